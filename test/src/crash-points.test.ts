import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import { makeTemporaryDirectory, type NodeProcess } from '@automation/launcher'
import t from 'tap'
import { startTraffic } from './fixtures/crash-callers.js'
import {
  apiPlaces,
  armPoints,
  backtestStatements,
  type Encounter,
  isolationStatements,
  lookUps,
  type Mode,
  type Place,
  type Point,
  pointsOf,
  workerPlaces,
} from './fixtures/crash-points.js'
import { findCounterFaults, findFaults, findStrayCalls, readEffects } from './fixtures/effects.js'
import { inParallel } from './fixtures/product.js'
import { startProductWithTargets } from './fixtures/product-with-targets.js'
import { createRandom, shuffle } from './storm/random.js'

/** After so long, and so many events, a point was met, or is never: some points come with time, others with traffic. */
const patienceMs = 120_000
const patienceEvents = 3_000
const slowMs = 3_000

const running = await startProductWithTargets({
  workers: 2,
  isFine: async ({ name }) => {
    if (name.startsWith('slow')) await delay(slowMs)
    return true
  },
})
const { product, targets, call } = running
const reports = await makeTemporaryDirectory()
t.teardown(async () => {
  await running.stop()
  await reports.remove()
})

const retry = { attempts: 20, delayMs: 100, backoff: 'constant' }
const hook = { url: `${targets.url}/{{name}}`, capture: { serial: 'body.serial' } }
const heard = {
  type: 'CREATE_TASK',
  config: { title: '{{name}} heard {{captured.serial}} {{actions.hook.outcome}}' },
}
const calls = [
  { name: 'hook', type: 'SEND_WEBHOOK', config: hook, retry },
  heard,
  { type: 'CREATE_TASK', config: { title: '{{name}} between' } },
  { type: 'SEND_EMAIL', config: { to: 'ada@example.com', subject: '{{name}}', template: 'plain' }, retry },
  { type: 'WAIT', config: { duration: '1s' } },
  // What it emits may be done before it waits for it.
  { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: { name: '{{name}}' } } },
  {
    type: 'WAIT',
    config: { duration: '1d', for: { eventType: 'DEAL_WON', match: { name: '{{name}}' }, then: 'go_on' } },
  },
  { type: 'CREATE_TASK', config: { title: '{{waited.name}} after' } },
]
const once = [
  { name: 'hook', type: 'SEND_WEBHOOK', config: hook, retry, onUncertain: 'stop', continueOnError: true },
  heard,
]
const slow = [{ type: 'SEND_WEBHOOK', config: { url: `${targets.url}/{{name}}` }, retry }]
const task = (title: string) => ({ type: 'CREATE_TASK', config: { title } })
await addRule([task('{{name}}')], [])
const callingRule = await addRule(calls, [{ field: 'kind', operator: 'equals', value: 'calls' }])
const onceRule = await addRule(once, [{ field: 'kind', operator: 'equals', value: 'calls' }])
const slowRule = await addRule(slow, [{ field: 'kind', operator: 'equals', value: 'slow' }])
const keyed = [{ field: 'kind', operator: 'equals', value: 'keyed' }]
const digest = { for: '2s', max: 5 }
const limit = { runs: 3, per: '2s' }
const digestRule = await addRule([task('{{collected.count}}')], keyed, { collect: digest })
const limitedRule = await addRule([task('limited')], keyed, { atMost: limit })
const waitOnce = [task('begins'), { type: 'WAIT', config: { duration: '1s' } }, task('ends')]
const queuedRule = await addRule(waitOnce, [{ field: 'kind', operator: 'equals', value: 'slow' }], {
  whileRunning: 'queue',
})

const [steady] = product.apis
if (!steady) throw new Error('There is no API')
const traffic = await startTraffic(running, steady)
const met: string[] = []
const wanted: string[] = []
const statements = new Set<string>()
let visits = 0

const startedAt = performance.now()
traffic.sendTo(steady)
await meetAll()
await traffic.stop()
const metAllAt = performance.now()
const effects = await readEffects(running)
const seconds = [metAllAt - startedAt, performance.now() - metAllAt].map((ms) => Math.round(ms / 1_000))
t.comment(
  `${met.length} points in ${seconds[0]} s, the rest in ${seconds[1]} s, ${traffic.offers.length} events`,
)

t.test('every point that was drawn was met, in every mode', async (t) => {
  t.strictSame(met.toSorted(), wanted.toSorted())
})

t.test('there is no statement by a name that has no point', async (t) => {
  const known = new Set<string>([
    ...apiPlaces,
    ...workerPlaces,
    ...isolationStatements,
    ...backtestStatements,
    ...lookUps,
  ])
  t.strictSame(
    [...statements].filter((name) => !known.has(name)),
    [],
  )
})

t.test('callers heard nothing but acceptances and pleas to come again', async (t) => {
  t.strictSame(traffic.surprises, [])
})

t.test('every event that was acknowledged has run once, and no other one twice', async (t) => {
  const eventsOf = groupBy(effects.events, ({ type, data }) =>
    type === 'LEAD_CREATED' ? (data as { name: string }).name : '',
  )
  const tasksOf = groupBy(effects.tasks, ({ title }) => title)
  const faults = traffic.offers.flatMap(({ name, kind, isAcknowledged }) => {
    const events = eventsOf.get(name) ?? []
    const count = events.length
    const titles = kind === 'calls' ? [name, `${name} between`, `${name} after`] : [name]
    return [
      ...(count > 1 || (count < 1 && isAcknowledged) ? [`${name}: ${count} events`] : []),
      ...events.flatMap(({ quarantined }) => (quarantined ? [`${name}: quarantined`] : [])),
      ...titles.flatMap((title) => {
        const made = tasksOf.get(title)?.length ?? 0
        return made === count ? [] : [`${title}: ${made} tasks of ${count} events`]
      }),
    ]
  })
  t.strictSame(faults, [])
})

t.test('every call was made under its first key, as often as it was noted or less', async (t) => {
  const faults = effects.events.flatMap(({ id, type, data }) => {
    const { kind, name } = data as { kind?: string; name?: string }
    if (type !== 'LEAD_CREATED' || (kind !== 'calls' && kind !== 'slow')) return []
    const [ruleId, actions] = kind === 'calls' ? [callingRule, calls] : [slowRule, slow]
    const executionId = executionIdOf({ id, addressee: null }, ruleId)
    return findFaults(effects, { executionId, actions }).map((fault) => `${name}: ${fault}`)
  })
  t.strictSame(faults, [])
  t.strictSame(findStrayCalls(effects), [])
})

t.test('who follows a call reads what is recorded of it: a response, or that it is unknown', async (t) => {
  const serials = new Map(effects.calls.map(({ serial, key }) => [serial, key]))
  const made = new Map(effects.tasks.map((task) => [`${task.executionId} ${task.actionIndex}`, task.title]))
  const executions = effects.executions.filter(({ ruleId }) => ruleId === callingRule || ruleId === onceRule)
  const faults = executions.flatMap(({ id, results }) => {
    const [call] = results as { status: string; captured?: { serial?: number } }[]
    const serial = call?.captured?.serial
    const title = made.get(`${id} 1`) ?? ''
    const isTold = title.endsWith(` heard ${serial ?? ''} ${call?.status}`)
    const isOwn = call?.status === 'success' ? serials.get(serial ?? 0) === `${id}:0` : serial === undefined
    return isTold && isOwn ? [] : [`${id}: ${JSON.stringify(call)} and ${title}`]
  })
  t.ok(executions.length > 0)
  t.strictSame(faults, [])
})

t.test('each event is in one batch, and each batch was acted for once', async (t) => {
  const claims = effects.claims.filter(({ ruleId }) => ruleId === digestRule)
  const batches = groupBy(claims, ({ batchId }) => `${batchId}`)
  const executions = effects.executions.filter(({ ruleId }) => ruleId === digestRule)
  const events = effects.events.filter(
    ({ type, data }) => type === 'LEAD_CREATED' && kindOf(data) === 'keyed',
  )
  t.ok(batches.size > 0)
  t.strictSame(claims.map(({ eventId }) => eventId).sort(), events.map(({ id }) => id).sort())
  t.strictSame(executions.map(({ eventId }) => eventId).sort(), events.map(({ id }) => id).sort())
  const faults = executions.flatMap(({ id, status }) => {
    const titles = effects.tasks.flatMap(({ executionId, title }) => (executionId === id ? title : []))
    const size = batches.get(id)?.length
    const wanted =
      size === undefined ? { status: 'suppressed', titles: [] } : { status: 'succeeded', titles: [`${size}`] }
    const isRight =
      status === wanted.status && titles.join() === wanted.titles.join() && (size ?? 1) <= digest.max
    return isRight ? [] : [`${id}: ${size} events, ${status}, ${titles}`]
  })
  t.strictSame(faults, [])
})

t.test('limits of keys hold, and executions of a key that queues do not overlap', async (t) => {
  const moments = new Map(effects.events.map(({ id, acceptedAt }) => [id, acceptedAt.getTime()]))
  const groups = new Map(effects.events.map(({ id, data }) => [id, (data as { group?: string }).group ?? '']))
  const of = (rule: string) => [
    ...groupBy(
      effects.executions.filter(({ ruleId }) => ruleId === rule),
      ({ eventId }) => groups.get(eventId) ?? '',
    ),
  ]
  const faults = of(limitedRule).flatMap(([group, executions]) => {
    const granted = executions
      .filter(({ status }) => status === 'succeeded')
      .map(({ eventId }) => moments.get(eventId) ?? 0)
    const times = granted.sort((one, other) => one - other)
    const early = times.filter((time, index) => time - (times[index - limit.runs] ?? 0) < 2_000)
    return [
      ...early.map((time) => `${group}: one too many at ${time}`),
      ...(times.length > 0 ? [] : [`${group}: none`]),
    ]
  })
  t.strictSame(faults, [])
  const overlaps = of(queuedRule).flatMap(([group, executions]) => {
    const times = executions.map(({ id }) =>
      effects.tasks
        .flatMap(({ executionId, createdAt }) => (executionId === id ? createdAt.getTime() : []))
        .sort(),
    )
    const ordered = times.sort(([one = 0], [other = 0]) => one - other)
    return ordered.flatMap(([begins = 0, ends], index) => {
      if (ends === undefined) return [`${group}: one has not ended`]
      return begins < (ordered[index - 1]?.[1] ?? 0) ? [`${group}: one begins before ${begins}`] : []
    })
  })
  t.strictSame(overlaps, [])
})

t.test('the counters are the rows', async (t) => {
  t.strictSame(findCounterFaults(effects), [])
})

/**
 * All at once, among healthy ones: APIs and workers that die one after another, some that stand still again and again, and
 * some whose calls fail.
 */
async function meetAll(): Promise<void> {
  const apiPoints = pointsOf(draw(apiPlaces, 1))
  const workerPoints = pointsOf(draw(workerPlaces, 2))
  await Promise.all([
    visitApi(inMode('error', apiPoints)),
    visitWorker(inMode('error', workerPoints)),
    inParallel(apiPoints.length, 5, (index) => visitApi(sleepAndDie(apiPoints, index))),
    inParallel(workerPoints.length, 7, (index) => visitWorker(sleepAndDie(workerPoints, index))),
  ])
}

/** So many places, drawn by the seed of the run; in `npm run test:long` all of them. */
function draw(places: readonly Place[], count: number): readonly Place[] {
  if (process.env.TEST_LONG) return places
  const random = createRandom(Number(process.env.TEST_SEED ?? 1))
  return shuffle([...places], random).slice(0, count)
}

/** It takes a second to start a process, so it does both: it stands still at one point, and ends at another. */
function sleepAndDie(points: Point[], index: number): Encounter[] {
  const other = points[(index + points.length / 2) % points.length] as Point
  return [`${points[index] as Point}: pause`, `${other}: kill`]
}

function inMode(mode: Mode, points: Point[]): Encounter[] {
  return points.map((point): Encounter => `${point}: ${mode}`)
}

async function visitApi(encounters: Encounter[]): Promise<void> {
  const report = await openReport()
  const api = await product.startApi(armPoints(encounters, report))
  traffic.sendTo(api)
  await waitForEncounters(api, encounters, report)
}

async function visitWorker(encounters: Encounter[]): Promise<void> {
  const report = await openReport()
  const worker = await product.startWorker(armPoints(encounters, report))
  await waitForEncounters(worker, encounters, report)
}

/** Waits until the process has met its points, or a while; then it has to be dead, or be able to end well. */
async function waitForEncounters(
  process: NodeProcess,
  encounters: Encounter[],
  report: string,
): Promise<void> {
  wanted.push(...encounters)
  const giveUpAt = performance.now() + patienceMs
  const giveUpEvents = traffic.offers.length + patienceEvents
  let lines: string[] = []
  const isMet = (encounter: string) => lines.includes(encounter)
  const isPatient = () => performance.now() < giveUpAt || traffic.offers.length < giveUpEvents
  while (isPatient() && !encounters.every(isMet)) {
    await delay(100)
    lines = await readReport(report)
  }
  met.push(...encounters.filter(isMet))
  for (const line of lines) if (line.startsWith('statement ')) statements.add(line.slice(10))
  if (encounters.some((encounter) => encounter.endsWith(': kill') && isMet(encounter))) await process.exited
  else await process.stop()
}

async function openReport(): Promise<string> {
  const path = `${reports.path}/${++visits}`
  await writeFile(path, '')
  return path
}

async function readReport(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
}

async function addRule(actions: object[], conditions: object[], memory?: object): Promise<string> {
  const perKey = memory && { perKey: { key: '{{group}}', ...memory } }
  const definition = { name: 'Rule', trigger: 'LEAD_CREATED', conditions, actions, ...perKey }
  const { status, body } = await call('POST', '/api/automation-rules', definition)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.id
}

function kindOf(data: unknown): string | undefined {
  return (data as { kind?: string }).kind
}

function groupBy<Item>(items: Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
