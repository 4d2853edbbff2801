import { groupBy } from './group-by.js'

/** What is stored in the end, as far as it is looked at. */
export interface MemoryTables {
  rules: { id: string; name: string }[]
  events: { id: string; acceptedAt: Date; data: { n: number; k: number; queues?: boolean } }[]
  executions: {
    id: string
    eventId: string
    handlerId: string
    status: string
    error: string | null
    suppression: { reason: string; count?: number; executionId?: string } | null
  }[]
  tasks: { executionId: string; title: string; description: string | null; createdAt: Date }[]
  counters: { ruleId: string; successCount: bigint }[]
}

export interface Limits {
  runs: number
  perMs: number
  events: number
  /** Of a batch. */
  collectMs: number
  collected: number
}

/** An execution with the moment of its event. */
interface Run {
  id: string
  status: string
  error: string | null
  suppression: MemoryTables['executions'][number]['suppression']
  at: number
  eventId: string
  /** Of its event. */
  n: number
}

/**
 * What must hold of each key, told from the stored rows alone: no window has too many executions and none was refused without need, each event counts for one
 * execution, and no two executions of a key are in progress at once.
 */
export function checkMemory(tables: MemoryTables, limits: Limits): string[] {
  const violations: string[] = []
  const tasks = groupBy(tables.tasks, ({ executionId }) => executionId)
  for (const rule of tables.rules) {
    const runs = listRuns(tables, rule.id)
    for (const [k, all] of runs)
      for (const violation of checkKey(rule.name, all, tasks, limits))
        violations.push(`${rule.name}, key ${k}: ${violation}`)
    violations.push(...checkCounts(tables, rule, [...runs.values()].flat()))
  }
  return violations
}

/** By key, in the order of acceptance. */
function listRuns({ events, executions }: MemoryTables, ruleId: string): Map<string, Run[]> {
  const byId = new Map(events.map((event) => [event.id, event]))
  const found = executions.filter((execution) => execution.handlerId === ruleId)
  const runs = groupBy(found, ({ eventId }) => String(byId.get(eventId)?.data.k))
  return new Map(
    Array.from(runs, ([k, all]) => [
      k,
      all
        .map((execution) => {
          const event = byId.get(execution.eventId)
          return { ...execution, at: event?.acceptedAt.getTime() ?? 0, n: event?.data.n ?? -1 }
        })
        .sort((one, other) => one.at - other.at || (one.eventId < other.eventId ? -1 : 1)),
    ]),
  )
}

function checkKey(
  name: string,
  all: readonly Run[],
  tasks: ReadonlyMap<string, MemoryTables['tasks']>,
  limits: Limits,
): string[] {
  if (name === 'atMost') return checkWindows(all, limits)
  if (name === 'atLeast') return checkTaken(all, limits)
  if (name === 'collect') return [...checkOverlaps(all, tasks), ...checkBatches(all, tasks, limits)]
  return [
    ...checkOverlaps(all, tasks),
    ...(name === 'replace' ? checkReplaced(all) : []),
    ...checkEnds(name, all),
  ]
}

function checkWindows(all: readonly Run[], { runs, perMs }: Limits): string[] {
  const exceeds = (times: readonly number[]) =>
    times.some((start) => times.filter((time) => time >= start && time < start + perMs).length > runs)
  const granted = all.filter(({ status }) => status === 'succeeded').map(({ at }) => at)
  const refused = all.filter(({ status }) => status === 'suppressed')
  const needless = refused.filter(({ at }) => !exceeds([...granted, at]))
  return [
    ...(granted.length + refused.length === all.length
      ? []
      : ['some executions are neither granted nor refused']),
    ...(exceeds(granted) ? ['a window has too many executions'] : []),
    ...needless.map(({ id }) => `${id} was refused without need`),
  ]
}

/** The window is longer than the storm, so that each event is in it: in whatever order they were recorded, only fewer than one execution takes are left. */
function checkTaken(all: readonly Run[], { events }: Limits): string[] {
  const granted = all.filter(({ status }) => status === 'succeeded').length
  const due = Math.floor(all.length / events)
  const odd = all.filter(
    ({ status, suppression }) =>
      status !== 'succeeded' && !(status === 'suppressed' && (suppression?.count ?? events) < events),
  )
  return [
    ...(granted === due ? [] : [`${granted} executions of ${all.length} events`]),
    ...odd.map(({ id, status }) => `${id} is ${status}`),
  ]
}

/** An execution is in progress from its first task to its last one. */
function checkOverlaps(all: readonly Run[], tasks: ReadonlyMap<string, MemoryTables['tasks']>): string[] {
  const spans = all
    .flatMap(({ id }) => {
      const times = (tasks.get(id) ?? []).map(({ createdAt }) => createdAt.getTime())
      return times.length === 0 ? [] : { id, from: Math.min(...times), to: Math.max(...times) }
    })
    .sort((one, other) => one.from - other.from)
  return spans.flatMap(({ id, from }, index) => {
    const last = spans[index - 1]
    return last !== undefined && last.to > from ? [`${id} began before ${last.id} had ended`] : []
  })
}

/** Each event is in one batch: that of its own execution, or of the one that it names, whose task tells them in their order. */
function checkBatches(
  all: readonly Run[],
  tasks: ReadonlyMap<string, MemoryTables['tasks']>,
  { collectMs, collected }: Limits,
): string[] {
  const opened = all.filter(({ status }) => status !== 'suppressed')
  return opened
    .flatMap(({ id, status, at }) => {
      const members = all.filter((run) => run.id === id || run.suppression?.executionId === id)
      const [told] = (tasks.get(id) ?? []).flatMap(({ description }) => description ?? [])
      const read = JSON.stringify(JSON.parse(told ?? '[]').map(({ n }: { n: number }) => n))
      return [
        ...(status === 'succeeded' ? [] : [`${id} is ${status}`]),
        ...(read === JSON.stringify(members.map(({ n }) => n))
          ? []
          : [`${id} has ${members.length} events, and told ${read}`]),
        ...(members.length <= collected ? [] : [`${id} has ${members.length} events`]),
        ...members
          .filter((run) => run.at >= at + collectMs)
          .map((run) => `${run.id} came after the end of ${id}`),
      ]
    })
    .concat(
      all
        .filter(({ suppression }) => suppression && opened.every(({ id }) => id !== suppression.executionId))
        .map(({ id }) => `${id} is in no batch`),
    )
}

function checkReplaced(all: readonly Run[]): string[] {
  const places = new Map(all.map(({ id }, place) => [id, place]))
  const newest = all.at(-1)
  return [
    ...(newest?.status === 'succeeded' ? [] : [`the newest execution ${newest?.id} is ${newest?.status}`]),
    ...all.flatMap(({ id, status, error, suppression }, place) => {
      const by = status === 'cancelled' ? error?.split(' ').at(-1) : suppression?.executionId
      const isOfNewer = status === 'succeeded' || (places.get(by ?? '') ?? -1) > place
      return isOfNewer ? [] : [`${id} is ${status}, but by none that is newer: ${by}`]
    }),
  ]
}

/** How executions of each mode may have ended. */
const ends: Record<string, readonly string[]> = {
  queue: ['succeeded'],
  skip: ['succeeded', 'suppressed'],
  replace: ['succeeded', 'suppressed', 'cancelled'],
}

function checkEnds(name: string, all: readonly Run[]): string[] {
  const others = all.filter(({ status }) => !ends[name]?.includes(status))
  const isStarved = all.every(({ status }) => status !== 'succeeded')
  return [
    ...others.map(({ id, status }) => `${id} is ${status}`),
    ...(isStarved ? ['no execution was granted'] : []),
  ]
}

/** Each effect once, and each success counted. */
function checkCounts(
  { counters, tasks }: MemoryTables,
  rule: MemoryTables['rules'][number],
  runs: Run[],
): string[] {
  const succeeded = new Set(runs.filter(({ status }) => status === 'succeeded').map(({ id }) => id))
  const counted = Number(counters.find(({ ruleId }) => ruleId === rule.id)?.successCount ?? 0)
  const made = tasks.filter(({ executionId }) => succeeded.has(executionId)).length
  const perExecution = rule.name.startsWith('at') ? 1 : 2
  return [
    ...(counted === succeeded.size
      ? []
      : [`${rule.name}: ${succeeded.size} succeeded, ${counted} are counted`]),
    ...(made === perExecution * succeeded.size
      ? []
      : [`${rule.name}: ${made} tasks of ${succeeded.size} executions`]),
  ]
}
