import { groupBy } from './group-by.js'
import { isRun, listEmittedTags, type StoredRule } from './rule-book.js'
import type { EventRow, ExecutionRow, Tables, TaskRow } from './tables.js'
import type { KeyedCalls, Target } from './target.js'

interface Found {
  tasks: TaskRow[]
  emitted: EventRow[]
  calls: Target['calls']
}

/**
 * Whether each event that is stored, however it came there, has had what its rules do for it, and nothing else has: one
 * execution for each rule that runs, one task, one emitted event for each action that makes one, calls under one key.
 */
export function checkEffects(
  tables: Tables,
  rules: StoredRule[],
  { calls }: Pick<Target, 'calls'>,
): string[] {
  const executions = groupBy(tables.executions, ({ eventId }) => eventId)
  const tasks = groupBy(tables.tasks, ({ executionId }) => executionId)
  const emitted = groupBy(tables.events, ({ causedBy }) => causedBy ?? '')
  const rulesOf = groupBy(rules, ({ workspaceId, trigger }) => `${workspaceId} ${trigger}`)
  const events = new Set(tables.events.map(({ id }) => id))
  const ids = new Set(tables.executions.map(({ id }) => id))
  return [
    ...tables.events.flatMap((event) => checkEvent(event)),
    ...tables.executions
      .filter(({ eventId }) => !events.has(eventId))
      .map(({ id }) => `execution ${id}: no event`),
    ...tables.tasks
      .filter(({ executionId }) => !ids.has(executionId))
      .map(({ title }) => `a task ${title} of no execution`),
    ...[...calls.keys()]
      .filter((key) => !ids.has(key.slice(0, key.indexOf(':'))))
      .map((key) => `a call under the key ${key} of no execution`),
    ...findSharedNames(calls),
    ...checkCounters(tables),
  ]

  function checkEvent(event: EventRow): string[] {
    const own = executions.get(event.id) ?? []
    const wanted = rulesOf.get(`${event.workspaceId} ${event.type}`) ?? []
    const faults = wanted.flatMap((rule) => {
      const runs = own.filter(({ ruleId }) => ruleId === rule.id)
      const most = isRun(rule, event) ? 1 : 0
      const count = runs.length === most ? [] : [`${runs.length} executions of ${rule.name}`]
      return [...count, ...runs.flatMap((run) => checkExecution(event, rule, run))]
    })
    if (own.some(({ ruleId }) => wanted.every(({ id }) => id !== ruleId)))
      faults.push('a rule ran that is not its')
    if (!event.isDone) faults.push('it is not done')
    if (event.quarantined) faults.push('it is quarantined')
    return faults.map((fault) => `${event.name} ${event.type} ${event.id}: ${fault}`)
  }

  function checkExecution(event: EventRow, rule: StoredRule, run: ExecutionRow): string[] {
    const found = { tasks: tasks.get(run.id) ?? [], emitted: emitted.get(run.id) ?? [], calls }
    const faults = rule.actions.flatMap(({ type }, index) => findActionFaults(found, event, run, type, index))
    const makers = (wanted: string) => rule.actions.filter(({ type }) => type === wanted).length
    if (found.tasks.length !== makers('CREATE_TASK')) faults.push(`${found.tasks.length} tasks`)
    const wanted = rule.actions
      .flatMap((action) => listEmittedTags(action, event.tags))
      .toSorted()
      .join()
    if (
      found.emitted
        .map(({ tag }) => tag)
        .toSorted()
        .join() !== wanted
    )
      faults.push(`${found.emitted.length} emitted events`)
    if (run.status !== 'succeeded') faults.push(`${run.status}: ${run.error}`)
    return faults.map((fault) => `${rule.name} ${run.id}: ${fault}`)
  }
}

function findActionFaults(
  { tasks, calls }: Found,
  event: EventRow,
  { id, attempts }: ExecutionRow,
  type: string,
  index: number,
): string[] {
  const called = calls.get(`${id}:${index}`)
  if (type === 'CREATE_TASK') {
    const made = tasks.filter((task) => task.actionIndex === index && task.title === event.name)
    return made.length === 1 ? [] : [`${made.length} tasks at ${index}`]
  }
  if (type !== 'SEND_WEBHOOK') return called ? [`a call at ${index}, which is ${type}`] : []
  if (called === undefined) return [`no call at ${index}`]
  const noted = attempts[index] ?? 0
  return [
    ...(called.welcome > 0 ? [] : ['its call was only ever refused']),
    ...(called.bodies.size > 1 ? [`its key came with ${called.bodies.size} bodies`] : []),
    ...(called.count > noted ? [`${called.count} calls, of which ${noted} were noted before`] : []),
    ...(called.names.has(event.name) ? [] : [`its key came with ${[...called.names].join(', ')}`]),
  ]
}

/** One action of one execution is all that calls under a name: a second key would be a second effect. */
function findSharedNames(calls: Map<string, KeyedCalls>): string[] {
  const keys = new Map<string, string[]>()
  for (const [key, { names }] of calls) {
    for (const name of names) keys.set(name, [...(keys.get(name) ?? []), key])
  }
  return [...keys].flatMap(([name, own]) =>
    own.length > 1 ? [`${name} was called under ${own.join(' and ')}`] : [],
  )
}

export function checkCounters({ executions, counters }: Pick<Tables, 'executions' | 'counters'>): string[] {
  const byRule = groupBy(executions, ({ ruleId, status }) => `${ruleId} ${status}`)
  const counted = new Map(counters.map((row) => [row.ruleId, row]))
  const ruleIds = new Set([...counters, ...executions].map(({ ruleId }) => ruleId))
  return [...ruleIds].flatMap((ruleId) => {
    const { successCount, failureCount } = counted.get(ruleId) ?? { successCount: 0, failureCount: 0 }
    const succeeded = byRule.get(`${ruleId} succeeded`)?.length ?? 0
    const failed = byRule.get(`${ruleId} failed`)?.length ?? 0
    const isRight = successCount === succeeded && failureCount === failed
    return isRight
      ? []
      : [
          `rule ${ruleId} counts ${successCount} and ${failureCount}, and there are ${succeeded} and ${failed}`,
        ]
  })
}
