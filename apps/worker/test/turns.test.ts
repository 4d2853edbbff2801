import { setTimeout as delay } from 'node:timers/promises'
import { type Database, newId, openDatabase, Prisma, readClock } from '@automation/database'
import {
  continueCancellations,
  createHistoryRemoval,
  FreeQueues,
  lookAtSilences,
  makeTicks,
  type Transaction,
  wakeOn,
  walkEvents,
  walkExecutions,
} from '@automation/ledger'
import { claimBacktest, claimGuards } from '@automation/rules'
import t, { type Test } from 'tap'
import { startSilences } from '../src/repair/silences.js'
import { removeGently } from '../src/retention/remove-gently.js'
import { log, onOwnDatabase } from './fixtures/harness.js'

const crowd = 1_200
/** Of looks at any rule, in seconds before now. */
type Run = [since: number, until: number]

async function openQuiet(t: Test): Promise<Database> {
  const database = openDatabase((await onOwnDatabase()).DATABASE_URL, 5)
  t.teardown(() => database.close())
  return database
}

async function createWorkspaces({ system }: Database, createdBy: string, count = 1): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId())
  await system.workspace.createMany({ data: ids.map((id) => ({ id, name: 'Turns', createdBy })) })
  return ids
}

/** Active rules that are due, or silent, or both. */
function insertRules(
  { system }: Database,
  workspaceId: string,
  count: number,
  { schedule, due }: { schedule?: object; due?: string } = {},
): Promise<{ id: string }[]> {
  return system.$queryRaw<{ id: string }[]>(Prisma.sql`
    INSERT INTO rules (id, workspace_id, name, description, trigger, schedule, conditions, actions, is_active, updated_at, expect_every, scheduled_since, next_run_at)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, 'Rule', '', ${schedule ? 'SCHEDULE' : 'LEAD_CREATED'}, ${schedule ? JSON.stringify(schedule) : null}::json, '[]', '[]', true,
           now(), '1m', now() - interval '1 day', now() - ${due ?? null}::interval
    FROM generate_series(1, ${count}::int) RETURNING id`)
}

async function insertSilences(database: Database, workspaceId: string, count: number, seconds: number) {
  const rules = await insertRules(database, workspaceId, count)
  await database.system.$executeRaw(Prisma.sql`
    INSERT INTO rule_silences (rule_id, workspace_id, seconds, counted_from, checked_at)
    SELECT id, ${workspaceId}::uuid, 60, now() - interval '10 minutes', now() - make_interval(secs => ${seconds}::float8)
    FROM unnest(${rules.map(({ id }) => id)}::uuid[]) AS input (id)`)
  return rules
}

t.test(
  'a due rule is ticked at once, whatever number of rules of another creator was due before',
  async (t) => {
    const database = await openQuiet(t)
    for (const id of await createWorkspaces(database, 'many', 3))
      await insertRules(database, id, crowd / 3, { schedule: { every: '1h' }, due: '90 minutes' })
    const [own = ''] = await createWorkspaces(database, 'one')
    const [rule] = await insertRules(database, own, 1, { schedule: { every: '1h' }, due: '1 minute' })
    const first = await makeTicks(database)
    t.ok(first.events.some(({ addressee }) => addressee?.id === rule?.id))
    t.equal(first.events.length, 500, 'the places that are left are used')
    t.ok(first.isMore)
    const second = await makeTicks(database)
    t.equal(second.events.length, 500)
    const third = await makeTicks(database)
    t.strictSame([third.events.length, third.isMore], [crowd + 1 - 1_000, false])
  },
)

t.test('two creators with many due rules have the same part, however many workspaces one has', async (t) => {
  const database = await openQuiet(t)
  for (const id of await createWorkspaces(database, 'many', 10))
    await insertRules(database, id, 100, { schedule: { every: '1h' }, due: '90 minutes' })
  const [own = ''] = await createWorkspaces(database, 'one')
  await insertRules(database, own, 400, { schedule: { every: '1h' }, due: '1 minute' })
  const { events } = await makeTicks(database)
  t.equal(events.filter(({ workspaceId }) => workspaceId === own).length, 250)
})

t.test('if more creators than places have something due, each has a place', async (t) => {
  const database = await openQuiet(t)
  const [first = ''] = await createWorkspaces(database, 'many')
  await insertRules(database, first, crowd, { schedule: { every: '1h' }, due: '90 minutes' })
  const others = await createWorkspaces(database, 'many', 0)
  for (let owner = 0; owner < 600; owner++) others.push(...(await createWorkspaces(database, `one ${owner}`)))
  await database.system.$executeRaw`
    INSERT INTO rules (id, workspace_id, name, description, trigger, schedule, conditions, actions, is_active, updated_at, scheduled_since, next_run_at)
    SELECT gen_random_uuid(), id, 'Rule', '', 'SCHEDULE', '{"every":"1h"}', '[]', '[]', true, now(), now() - interval '1 day', now() - interval '1 minute'
    FROM unnest(${others}::uuid[]) AS input (id)`
  const ticked = new Set<string>()
  for (let call = 0; call < 2; call++)
    for (const { workspaceId } of (await makeTicks(database)).events) ticked.add(workspaceId)
  t.equal(ticked.size, 601)
})

t.test(
  'with catchUp none a tick is dropped if nobody swept in its 60 s, and not if others came first',
  async (t) => {
    const database = await openQuiet(t)
    const schedule = { every: '1h', catchUp: 'none' }
    const hourMs = 3_600_000
    const at = async (seconds: number) => {
      const [own = ''] = await createWorkspaces(database, 'one')
      const [rule] = await insertRules(database, own, 1, { schedule, due: '1 minute' })
      // The multiple of an hour that is next after this one is an hour away: so no other tick is due, whatever the time.
      const every = {
        schedule: { every: '366d', catchUp: 'none' },
        nextRunAt: new Date(Date.now() - seconds * 1_000),
      }
      await database.system.rule.update({ where: { id: rule?.id ?? '' }, data: every })
      return rule?.id
    }
    const note = async (since: number, until: number) => {
      const [from, to] = [since, until].map((seconds) => new Date(Date.now() - seconds * 1_000)) as [
        Date,
        Date,
      ]
      await database.system.sweep.upsert({
        where: { name: 'ticks' },
        create: { name: 'ticks', since: from, at: to },
        update: { since: from, at: to },
      })
    }
    const isMade = async (seconds: number) => {
      const id = await at(seconds)
      const { events } = await makeTicks(database)
      return events.some(({ addressee }) => addressee?.id === id)
    }
    t.equal(await isMade(50), true, 'in time')
    t.equal(await isMade(120), false, 'nobody has ever left a tick to the next sweep')
    await note(hourMs / 1_000, 2)
    t.equal(await isMade(120), true, 'sweeps came in time and were busy')
    await note(70, 2)
    t.equal(await isMade(120), true, 'the first sweep after a gap came in time')
    await note(50, 2)
    t.equal(await isMade(120), false, 'the first sweep after a gap came too late')
    await note(hourMs / 1_000, 130)
    t.equal(await isMade(120), false, 'the last sweep was before the tick')
  },
)

t.test('a sweep that leaves ticks to the next one is noted, and one that leaves none is not', async (t) => {
  const database = await openQuiet(t)
  const [own = ''] = await createWorkspaces(database, 'one')
  await insertRules(database, own, 10, { schedule: { every: '1h' }, due: '1 minute' })
  await makeTicks(database)
  t.equal(await database.system.sweep.count(), 0)
  await insertRules(database, own, 600, { schedule: { every: '1h' }, due: '1 minute' })
  await makeTicks(database)
  t.match(await database.system.sweep.findMany(), [{ name: 'ticks' }])
})

t.test('a silence is looked at, whatever number of another creator was due before', async (t) => {
  const database = await openQuiet(t)
  for (const id of await createWorkspaces(database, 'many', 3))
    await insertSilences(database, id, crowd / 3, 120)
  const [own = ''] = await createWorkspaces(database, 'one')
  const [rule] = await insertSilences(database, own, 1, 10)
  await database.system.sweep.create({ data: { name: 'silences', since: new Date(0), at: new Date() } })
  const { looked, silences } = await lookAtSilences(database, 500)
  t.equal(looked, 500)
  t.ok(silences.some(({ ruleId }) => ruleId === rule?.id))
})

t.test('a look that is late because there was much to look at counts in full', async (t) => {
  const database = await openQuiet(t)
  const [own = ''] = await createWorkspaces(database, 'one')
  const [rule] = await insertSilences(database, own, 1, 120)
  const where = { ruleId: rule?.id ?? '' }
  await database.system.ruleSilence.update({ where, data: { countedFrom: new Date(Date.now() - 100_000) } })
  const now = Date.now()
  await database.system.sweep.create({
    data: { name: 'silences', since: new Date(now - 600_000), at: new Date(now - 5_000) },
  })
  t.equal((await lookAtSilences(database, 500)).silences.length, 1, 'others were looked at five seconds ago')
  await database.system.ruleSilence.update({
    where,
    data: { countedFrom: new Date(now - 100_000), checkedAt: new Date(now - 120_000) },
  })
  await database.system.sweep.updateMany({ data: { at: new Date(now - 110_000) } })
  t.equal((await lookAtSilences(database, 500)).silences.length, 0, 'nobody looked at any rule for 110 s')
})

t.test(
  'of the time since the last look at a rule, only a gap in which nobody looked does not count',
  async (t) => {
    const database = await openQuiet(t)
    const [own = ''] = await createWorkspaces(database, 'one')
    const [rule] = await insertSilences(database, own, 1, 10)
    const where = { ruleId: rule?.id ?? '' }
    const isSilent = async (countedFrom: number, checkedAt: number, runs: Run[]): Promise<boolean> => {
      const before = (seconds: number) => new Date(Date.now() - seconds * 1_000)
      const [[since, at] = [0, 0], previous] = runs.toReversed()
      const run = { since: before(since), at: before(at) }
      const gap = {
        previousSince: previous ? before(previous[0]) : null,
        previousAt: previous ? before(previous[1]) : null,
      }
      await database.system.sweep.deleteMany()
      await database.system.sweep.create({ data: { name: 'silences', ...run, ...gap } })
      await database.system.ruleSilence.update({
        where,
        data: { countedFrom: before(countedFrom), checkedAt: before(checkedAt) },
      })
      return (await lookAtSilences(database, 500)).silences.length === 1
    }
    // A rule is silent after 600 s, and 20 s of a gap count.
    await database.system.ruleSilence.update({ where, data: { seconds: 600 } })
    const crowded: Run[] = [
      [9_000, 2_000],
      [50, 2],
    ]
    t.equal(await isSilent(2_610, 2_600, crowded), true, '610 s before the gap, which had looks at others')
    t.equal(await isSilent(2_310, 2_300, crowded), false, '310 s before the gap, and 50 s after it')
    const ended = crowded.slice(0, 1)
    t.equal(
      await isSilent(2_710, 2_700, ended),
      true,
      'the first look after the gap counts what was before it',
    )
    t.equal(await isSilent(2_310, 2_300, ended), false, 'and not the gap')
    const within = (since: number): Run[] => [...ended, [since, 2]]
    t.equal(await isSilent(1_850, 1_800, within(600)), true, 'inserted within the gap, 600 s after it')
    t.equal(await isSilent(1_850, 1_800, within(450)), false, 'inserted within the gap, 450 s after it')
    const between = (until: number): Run[] => [
      [3_000, until],
      [50, 2],
    ]
    t.equal(await isSilent(5_000, 4_900, between(2_400)), true, '600 s between two gaps')
    t.equal(await isSilent(5_000, 4_900, between(2_700)), false, '300 s between two gaps')
  },
)

t.test('the note of the silences keeps the last two runs of looks', async (t) => {
  const database = await openQuiet(t)
  const [own = ''] = await createWorkspaces(database, 'one')
  await insertSilences(database, own, 1, 10)
  const lookAfter = async (seconds: number) => {
    await database.system.$executeRaw`
      UPDATE sweeps SET since = since - gone, at = at - gone, previous_since = previous_since - gone, previous_at = previous_at - gone
      FROM make_interval(secs => ${seconds}::float8) AS gone`
    const before = await database.system.sweep.findFirst()
    await database.system.ruleSilence.updateMany({ data: { checkedAt: new Date(Date.now() - 10_000) } })
    await lookAtSilences(database, 500)
    return { before, after: await database.system.sweep.findFirst() }
  }
  const first = await lookAfter(0)
  t.match(first.after, { since: first.after?.at, previousSince: null, previousAt: null })
  const second = await lookAfter(5)
  t.match(second.after, { since: second.before?.since, previousAt: null }, 'the run goes on')
  const third = await lookAfter(30)
  const ended = { previousSince: third.before?.since, previousAt: third.before?.at }
  t.match(third.after, { since: third.after?.at, ...ended }, 'a gap')
  const fourth = await lookAfter(5)
  t.match(fourth.after, {
    since: fourth.before?.since,
    previousSince: fourth.before?.previousSince,
    previousAt: fourth.before?.previousAt,
  })
})

t.test('a silence is told beside those of another creator', async (t) => {
  const database = await openQuiet(t)
  const subscribe = (workspaceId: string) =>
    database.system.subscription.create({
      data: {
        id: newId(),
        workspaceId,
        url: 'https://example.com/',
        description: '',
        eventTypes: ['rule.silent'],
      },
    })
  const [many = ''] = await createWorkspaces(database, 'many')
  const [own = ''] = await createWorkspaces(database, 'one')
  await insertSilences(database, many, crowd, 15)
  await insertSilences(database, own, 1, 12)
  for (const id of [many, own]) await subscribe(id)
  await database.system.sweep.create({ data: { name: 'silences', since: new Date(0), at: new Date() } })
  const silences = startSilences(database, log, 1)
  const count = (workspaceId: string) =>
    database.system.event.count({ where: { workspaceId, type: 'rule.silent' } })
  while ((await count(own)) === 0) await delay(10)
  const before = await count(many)
  await silences.stop()
  t.ok(before < crowd / 10, `${before} of ${crowd} were told before`)
})

t.test('guards are claimed in turns', async (t) => {
  const database = await openQuiet(t)
  const [many = ''] = await createWorkspaces(database, 'many')
  const [own = ''] = await createWorkspaces(database, 'one')
  for (const [workspaceId, count, seconds] of [
    [many, 100, 60],
    [own, 1, 2],
  ] as const)
    await database.system.$executeRaw`
      INSERT INTO rule_guards (rule_id, workspace_id, version, previous_version, max_runs_per_hour, ends_at, checked_at)
      SELECT id, ${workspaceId}::uuid, 2, 1, 10, now() + interval '1 hour', now() - make_interval(secs => ${seconds}::float8)
      FROM unnest(${(await insertRules(database, workspaceId, count)).map(({ id }) => id)}::uuid[]) AS input (id)`
  const claimed = await claimGuards(database, 50)
  t.equal(claimed.length, 50)
  t.match(
    claimed.filter(({ workspaceId }) => workspaceId === own),
    [{ createdBy: 'one' }],
  )
})

t.test('backtests take turns by creator, however many workspaces one has', async (t) => {
  const database = await openQuiet(t)
  const workspaces = [
    ...(await createWorkspaces(database, 'many', 5)),
    ...(await createWorkspaces(database, 'one')),
  ]
  const [own] = workspaces.slice(-1)
  for (const workspaceId of workspaces)
    for (let n = 0; n < 2; n++) {
      const range = { rangeFrom: new Date(0), rangeTo: new Date() }
      const row = { id: newId(), workspaceId, subject: {}, pace: 'fast', createdBy: 'test', ...range }
      await database.system.backtest.create({ data: row })
    }
  const claimed: (string | undefined)[] = []
  for (let slice = 0; slice < 4; slice++) claimed.push((await claimBacktest(database))?.workspaceId)
  t.equal(claimed.filter((id) => id === own).length, 2, 'every second slice')
})

/** Executions that wait until a time, each for an event of its own. */
function insertWaiting(
  { system }: Database,
  workspaceId: string,
  ruleId: string,
  count: number,
  fields: { due: string; waitKey?: string },
) {
  return system.$executeRaw(Prisma.sql`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at, wait_key, wait_type, wait_seen)
    SELECT gen_random_uuid(), ${workspaceId}::uuid, gen_random_uuid(), 'LEAD_CREATED', ${ruleId}::uuid, 1, 'waiting', '[]', now(), now() + ${fields.due}::interval,
           ${fields.waitKey ?? null}::uuid, 'LEAD_CREATED', 0
    FROM generate_series(1, ${count}::int)`)
}

t.test('what is to be cancelled for one creator delays nothing of another', async (t) => {
  const database = await openQuiet(t)
  const [many = ''] = await createWorkspaces(database, 'many')
  const [own = ''] = await createWorkspaces(database, 'one')
  for (const [workspaceId, rules] of [
    [many, 30],
    [own, 1],
  ] as const)
    for (let n = 0; n < rules; n++) {
      const ruleId = newId()
      await insertWaiting(database, workspaceId, ruleId, 300, { due: '1 day' })
      await database.system.cancellation.create({
        data: { id: newId(), workspaceId, handlerId: ruleId, reason: 'Off' },
      })
    }
  let statements = 0
  const cancelled = await continueCancellations(database, () => statements++ > 1)
  t.equal(cancelled, 300 + 19 * 27, 'half of a statement for each, and one has no more than 300')
  const left = await database.system.execution.groupBy({
    by: ['workspaceId'],
    where: { status: 'waiting' },
    _count: true,
  })
  t.strictSame(left, [{ workspaceId: many, _count: 30 * 300 - 19 * 27 }])
  await continueCancellations(database, () => false)
  t.equal(await database.system.cancellation.count(), 0)
})

t.test('an event wakes what waits for it, whatever number others are to wake', async (t) => {
  const database = await openQuiet(t)
  const [many = ''] = await createWorkspaces(database, 'many')
  const [own = ''] = await createWorkspaces(database, 'one')
  const ruleId = newId()
  for (const [workspaceId, keys] of [
    [many, 150],
    [own, 1],
  ] as const)
    for (let n = 0; n < keys; n++) {
      const waitKey = newId()
      await insertWaiting(database, workspaceId, ruleId, 20, { due: '1 day', waitKey })
      await database.system.eventKey.create({
        data: { workspaceId, key: waitKey, eventId: newId(), acceptedAt: new Date(), isWaking: true },
      })
    }
  let looks = 0
  t.equal(await wakeOn(database, () => looks++ > 100), 100 * 20, 'a hundred keys')
  t.equal(await database.system.eventKey.count({ where: { workspaceId: own, isWaking: true } }), 0)
  t.equal(await wakeOn(database, () => false), 51 * 20)
  t.equal(await database.system.eventKey.count({ where: { isWaking: true } }), 0)
})

t.test('a key that is free goes to the next, whatever number of keys others have', async (t) => {
  const database = await openQuiet(t)
  const [many = ''] = await createWorkspaces(database, 'many')
  const [own = ''] = await createWorkspaces(database, 'one')
  await database.system.$executeRaw`
    INSERT INTO key_claims (execution_id, workspace_id, rule_id, key_id, event_id, accepted_at, is_granted, is_counted, place, is_exclusive, expires_at)
    SELECT gen_random_uuid(), ${many}::uuid, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), false, false, 'queued', true, now()
    FROM generate_series(1, 6000)`
  const executionId = newId()
  await database.system.execution.create({
    data: {
      ...{
        id: executionId,
        workspaceId: own,
        eventId: newId(),
        eventType: 'LEAD_CREATED',
        handlerId: newId(),
        ruleVersion: 1,
      },
      ...{ status: 'waiting', results: [], startedAt: new Date(), dueAt: new Date(Date.UTC(9_999, 0)) },
    },
  })
  await database.system.keyClaim.create({
    data: {
      ...{
        executionId,
        workspaceId: own,
        ruleId: newId(),
        keyId: 'ffffffff-ffff-4fff-bfff-ffffffffffff',
        eventId: newId(),
      },
      ...{
        acceptedAt: new Date(),
        isGranted: false,
        isCounted: false,
        place: 'queued',
        isExclusive: true,
        expiresAt: new Date(),
      },
    },
  })
  const queues = new FreeQueues(database)
  t.equal(await queues.wake(), 1)
  const queued = () => database.system.keyClaim.count({ where: { place: 'queued' } })
  t.equal(await queued(), 6_000 - 1_250, 'each owner has half of a look')
  for (let look = 0; look < 3; look++) await queues.wake()
  t.equal(await queued(), 0, 'the walk of a workspace goes on')
})

t.test(
  'a sweep restores the execution whose time is over, whatever number of another creator ended with it',
  async (t) => {
    const database = await openQuiet(t)
    const [many = ''] = await createWorkspaces(database, 'many')
    const [own = ''] = await createWorkspaces(database, 'one')
    await insertWaiting(database, many, newId(), 14_000, { due: '-5 seconds' })
    await insertWaiting(database, own, newId(), 1, { due: '-3 seconds' })
    await insertWaiting(database, many, newId(), 3_000, { due: '-1 second' })
    const now = await readClock(database)
    const seen: string[] = []
    for await (const page of walkExecutions(database).pages(now))
      seen.push(...page.map(({ workspaceId }) => workspaceId))
    t.ok(seen.includes(own))
  },
)

t.test('a sweep restores an event that lost its job, whatever number of another creator did', async (t) => {
  const database = await openQuiet(t)
  const [many = ''] = await createWorkspaces(database, 'many')
  const [own = ''] = await createWorkspaces(database, 'one')
  const insert = (workspaceId: string, count: number, seconds: number) => database.system.$executeRaw`
    INSERT INTO events (id, workspace_id, type, data, accepted_at)
    SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - ${seconds * 1_000}::bigint), 12, '0') || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid,
           ${workspaceId}::uuid, 'LEAD_CREATED', '{}', now() - make_interval(secs => ${seconds}::float8)
    FROM generate_series(1, ${count}::int)`
  await insert(many, 14_000, 9)
  await insert(own, 1, 7)
  await insert(many, 3_000, 5)
  const now = await readClock(database)
  const seen: string[] = []
  for await (const page of walkEvents(database).pages(now))
    seen.push(...page.map(({ workspaceId }) => workspaceId))
  t.ok(seen.includes(own))
})

t.test('history is removed in turns, however much of it one creator has', async (t) => {
  const database = await openQuiet(t)
  const [own = ''] = await createWorkspaces(database, 'one')
  for (const id of [...(await createWorkspaces(database, 'many', 3)), own])
    await database.system.$executeRaw`
      INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
      SELECT ('0190' || substr(gen_random_uuid()::text, 5))::uuid, ${id}::uuid, 'LEAD_CREATED', '{}', now() - interval '9 days', now() - interval '9 days'
      FROM generate_series(1, ${id === own ? 1 : 50}::int)`
  const remove = createHistoryRemoval(await readClock(database), 1)
  for (let batch = 0; batch < 2; batch++)
    await database.system.$transaction((transaction) => remove(transaction, 10))
  t.equal(await database.system.event.count({ where: { workspaceId: own } }), 0)
  let isOver = false
  while (!isOver) ({ isOver } = await database.system.$transaction((transaction) => remove(transaction, 10)))
  t.equal(await database.system.event.count(), 0)
})

t.test('a workspace that is being changed loses its own turn in the removal of history', async (t) => {
  const database = await openQuiet(t)
  const [changed = ''] = await createWorkspaces(database, 'many')
  const others = await createWorkspaces(database, 'many', 2)
  for (const id of [changed, ...others])
    await database.system.$executeRaw`
      INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
      SELECT ('0190' || substr(gen_random_uuid()::text, 5))::uuid, ${id}::uuid, 'LEAD_CREATED', '{}', now() - interval '9 days', now() - interval '9 days'
      FROM generate_series(1, 20)`
  const left = async () => {
    const counts = await database.system.event.groupBy({ by: ['workspaceId'], _count: true })
    return counts.map(({ workspaceId, _count }) => [workspaceId, _count])
  }
  let batches = 0
  const removeAll = async () => {
    const remove = createHistoryRemoval(await readClock(database), 1)
    const history = (transaction: Transaction) => {
      batches++
      return remove(transaction, 10)
    }
    await removeGently(database, { history }, new AbortController().signal)
  }
  await database.system.$transaction(
    async (transaction) => {
      await transaction.$queryRaw`SELECT 1 FROM workspaces WHERE id = ${changed}::uuid FOR NO KEY UPDATE`
      await removeAll()
    },
    { timeout: 120_000 },
  )
  t.strictSame(await left(), [[changed, 20]])
  t.ok(batches <= 5 + 2 * 3 + 1, `${batches} batches: the lost turns are few`)
  await removeAll()
  t.strictSame(await left(), [])
})

t.test('a kind of rows that takes long keeps no other from being removed', async (t) => {
  const database = await openQuiet(t)
  const batches: string[] = []
  const removalOf = (kind: string, count: number) => async () => ({
    removed: batches.push(kind),
    isOver: batches.filter((one) => one === kind).length === count,
  })
  await removeGently(
    database,
    { many: removalOf('many', 3), one: removalOf('one', 1) },
    new AbortController().signal,
    { kindMs: 0 },
  )
  t.strictSame(batches, ['many', 'one', 'many', 'many'])
})
