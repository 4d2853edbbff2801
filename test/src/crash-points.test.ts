import { setTimeout as delay } from 'node:timers/promises'
import { executionIdOf, taskIdOf } from '@automation/database'
import { makeTemporaryDirectory } from '@automation/launcher'
import t from 'tap'
import { startTraffic } from './fixtures/crash-callers.js'
import {
  apiPlaces,
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
import { createVisits } from './fixtures/visits.js'
import { createRandom, shuffle } from './storm/random.js'

const slowMs = 3_000
const refusedPaceMs = 1_000
/** `npm run test:long` visits all places. */
const [visitedOfApi, visitedOfWorker] = [draw(apiPlaces, 1), draw(workerPlaces, 2)]

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
// So long and so few that batches are full at the pace of one API on a slow machine, too: that moves their ends.
const digest = { for: '15s', max: 2 }
// So few that some executions are suppressed at the pace of a slow machine, too.
const limit = { runs: 1, per: '5s' }
const digestRule = await addRule([task('{{collected.count}}')], keyed, { collect: digest })
const limitedRule = await addRule([task('limited')], keyed, { atMost: limit })
const waitOnce = [task('begins'), { type: 'WAIT', config: { duration: '1s' } }, task('ends')]
const queuedRule = await addRule(waitOnce, [{ field: 'kind', operator: 'equals', value: 'slow' }], {
  whileRunning: 'queue',
})

await refuseExecutions('DEAL_LOST')
await addRule([task('refused')], [], undefined, 'DEAL_LOST')

const [steady] = product.apis
if (!steady) throw new Error('There is no API')
const traffic = await startTraffic(running, steady)
const visits = createVisits(running, traffic, reports.path)

const startedAt = performance.now()
traffic.sendTo(steady)
const refusing = new AbortController()
const refused = sendRefused(refusing.signal)
await meetAll()
refusing.abort()
await refused
await traffic.stop()
const metAllAt = performance.now()
const effects = await readEffects(running)
const seconds = [metAllAt - startedAt, performance.now() - metAllAt].map((ms) => Math.round(ms / 1_000))
t.comment(
  `${visits.met.length} points in ${seconds[0]} s, the rest in ${seconds[1]} s, ${traffic.offers.length} events`,
)

t.test('every point that was drawn was met, in every mode', async (t) => {
  t.strictSame(visits.met.toSorted(), visits.wanted.toSorted())
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
    [...visits.statements].filter((name) => !known.has(name)),
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

t.test('no action has created two tasks, and each has the id that follows from its action', async (t) => {
  const places = effects.tasks.map(({ executionId, actionIndex }) => `${executionId} ${actionIndex}`)
  t.equal(new Set(places).size, places.length)
  const faults = effects.tasks.filter(
    ({ id, executionId, actionIndex, createdAt }) =>
      id !== taskIdOf({ id: executionId, reopened: 0 }, actionIndex, createdAt),
  )
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
  const executions = effects.executions.filter(
    ({ handlerId: ruleId }) => ruleId === callingRule || ruleId === onceRule,
  )
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
  const executions = effects.executions.filter(({ handlerId: ruleId }) => ruleId === digestRule)
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
      effects.executions.filter(({ handlerId: ruleId }) => ruleId === rule),
      ({ eventId }) => groups.get(eventId) ?? '',
    ),
  ]
  const faults = of(limitedRule).flatMap(([group, executions]) => {
    const granted = executions
      .filter(({ status }) => status === 'succeeded')
      .map(({ eventId }) => moments.get(eventId) ?? 0)
    const times = granted.sort((one, other) => one - other)
    const early = times.filter((time, index) => time - (times[index - limit.runs] ?? 0) < 5_000)
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

t.test('an event whose outcome Postgres refuses is quarantined, and has caused nothing', async (t) => {
  const events = effects.events.filter(({ type }) => type === 'DEAL_LOST')
  t.ok(events.length > 0)
  const ids = new Set(events.map(({ id }) => id))
  t.strictSame([...new Set(events.map(({ quarantined }) => quarantined))], [true])
  t.strictSame(
    effects.executions.filter(({ eventId }) => ids.has(eventId)),
    [],
  )
  t.notOk(effects.tasks.some(({ title }) => title === 'refused'))
})

t.test('the counters are the rows', async (t) => {
  t.strictSame(findCounterFaults(effects), [])
})

/**
 * All at once, among healthy ones: APIs and workers that die one after another, some that stand still again and again, and
 * some whose calls fail.
 */
async function meetAll(): Promise<void> {
  const apiPoints = pointsOf(visitedOfApi)
  const workerPoints = pointsOf(visitedOfWorker)
  await Promise.all([
    visits.visitApi(inMode('error', apiPoints)),
    visits.visitWorker(inMode('error', workerPoints)),
    inParallel(apiPoints.length, 5, (index) => visits.visitApi(sleepAndDie(apiPoints, index))),
    inParallel(workerPoints.length, 7, (index) => visits.visitWorker(sleepAndDie(workerPoints, index))),
  ])
}

/** So many places, drawn by the seed of the run. */
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

/** Makes Postgres refuse each execution of an event of this type, as it would refuse faulty data. */
async function refuseExecutions(type: string): Promise<void> {
  const { system } = running.database
  await system.$executeRaw`
    CREATE FUNCTION refuse_execution() RETURNS trigger LANGUAGE plpgsql AS $body$
    BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '23514'; END $body$`
  await system.$executeRawUnsafe(`
    CREATE TRIGGER refused BEFORE INSERT ON executions FOR EACH ROW WHEN (NEW.event_type = '${type}') EXECUTE FUNCTION refuse_execution()`)
}

/** One, or as many as it takes to meet the point of a refusal: each is tried five times, so it costs five runs. */
async function sendRefused(signal: AbortSignal): Promise<void> {
  do {
    await call('POST', '/api/automation-rules/trigger/DEAL_LOST', { data: {} }, { prefer: 'respond-async' })
    await delay(refusedPaceMs, undefined, { signal }).catch(() => {})
  } while (!signal.aborted && visitedOfWorker.includes('note_refusal'))
}

async function addRule(
  actions: object[],
  conditions: object[],
  memory?: object,
  trigger = 'LEAD_CREATED',
): Promise<string> {
  const perKey = memory && { perKey: { key: '{{group}}', ...memory } }
  const definition = { name: 'Rule', trigger, conditions, actions, ...perKey }
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
