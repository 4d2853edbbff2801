import { newId, openPatiently } from '@automation/database'
import { type CompiledPerKey, compilePerKey, decide } from '@automation/engine'
import t from 'tap'
import { readKeyStates } from '../src/keys/key-states.js'
import { wakeQueues } from '../src/keys/wake-queues.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

const second = 1_000
const start = Date.parse('2026-06-01T12:00:00.000Z')

/** Stores claims of a key, one a millisecond from a moment on. */
function store(keyId: string, count: number, from: number, { isGranted = false, isCounted = false }) {
  return database.system.$executeRaw`
    INSERT INTO key_claims
      (execution_id, workspace_id, rule_id, key_id, event_id, accepted_at, is_granted, is_counted, is_exclusive, expires_at)
    SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), ${keyId}::uuid, gen_random_uuid(),
           to_timestamp((${from}::float8 + n) / 1000), ${isGranted}, ${isCounted}, false, now()
    FROM generate_series(1, ${count}::int) AS n`
}

/** What is decided about events that one commit records. */
async function decideAt(perKey: Partial<CompiledPerKey>, keyId: string, moments: number[]) {
  const compiled = perKey as CompiledPerKey
  const states = await readKeyStates(
    database,
    moments.map((at) => ({ keyId, perKey: compiled, at })),
  )
  const state = states.get(keyId)
  return moments.map(
    (at) => state && decide(compiled, 'k', state, { at, eventId: newId(), executionId: newId() }),
  )
}

t.test(
  'a commit of events that are far apart sees the claims around each of them, however many there are',
  async (t) => {
    const [granting, counting] = [newId(), newId()]
    const [early, late] = [start, start + 20 * second]
    await store(granting, 100, early, { isGranted: true })
    // Another version of the rule has let more through.
    await store(granting, 1_500, late - 2 * second, { isGranted: true })
    const atMost = { runs: 100, per: second }
    const granted = await decideAt({ atMost }, granting, [early + 50, late])
    t.match(granted, [{ suppression: { reason: 'at_most' } }, { suppression: { reason: 'at_most' } }])
    const [free] = await decideAt({ atMost }, granting, [early - 2 * second])
    t.match(free, { kind: 'run' })

    await store(counting, 99, early, { isCounted: true })
    await store(counting, 1_500, late - 2 * second, { isCounted: true })
    const counted = await decideAt({ atLeast: { events: 100, within: second } }, counting, [early + 50, late])
    t.match(counted, [{ kind: 'run' }, { kind: 'run' }])
    t.equal(counted[0]?.consumed.length, 100)
  },
)

t.test('events of a key that are neighbours in a commit share what lies between them', async (t) => {
  const keyId = newId()
  await store(keyId, 2, start, { isGranted: true })
  const atMost = { runs: 2, per: second }
  const moments = [start - 500, start, start + 1, start + 1, start + 900, start + 1_500]
  const decided = await decideAt({ atMost }, keyId, moments)
  t.strictSame(
    decided.map((decision) => decision?.kind),
    [...Array(5).fill('suppressed'), 'run'],
  )
})

/** Stores batches of two events that have not begun, one a second from a moment on. Each is full. */
function storeBatches(keyId: string, count: number, from: number) {
  return database.system.$executeRaw`
    WITH batches AS (
      SELECT gen_random_uuid() AS id, to_timestamp(${from}::float8 / 1000 + n) AS at FROM generate_series(1, ${count}::int) AS n
    ),
    executions AS (
      INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at)
      SELECT id, gen_random_uuid(), id, 'X', gen_random_uuid(), 1, 'waiting', '[]', at, at FROM batches
    )
    INSERT INTO key_claims
      (execution_id, workspace_id, rule_id, key_id, event_id, accepted_at, is_granted, is_counted, place, is_exclusive, expires_at, batch_id, ends_at)
    SELECT CASE WHEN member = 1 THEN id ELSE gen_random_uuid() END, gen_random_uuid(), gen_random_uuid(), ${keyId}::uuid, id, at, false, false,
           CASE WHEN member = 1 THEN 'collects' END, false, now(), id, CASE WHEN member = 1 THEN at + interval '500 ms' END
    FROM batches, generate_series(1, 2) AS member`
}

t.test('of batches that nobody has begun, a commit reads those that may take its events', async (t) => {
  const keyId = newId()
  await storeBatches(keyId, 1_200, start)
  const read = async (perKey: CompiledPerKey, at: number) =>
    (await readKeyStates(database, [{ keyId, perKey, at }])).get(keyId)
  const collecting = compilePerKey({ collect: { for: '1h', max: 2 } })
  t.match(await read(collecting, start + 2_000 * second), {
    batches: { length: 0 },
    collecting: 0,
    queue: { length: 0 },
  })
  const late = await read(collecting, start + 1_198 * second)
  t.strictSame(
    late?.batches.map(({ openedBy, size, endsAt }) => ({ at: openedBy.at, size, endsAt })),
    [1_198, 1_199, 1_200].map((n) => ({ at: start + n * second, size: 2, endsAt: start + n * second + 500 })),
  )
  const latest = await read(collecting, start)
  t.equal(latest?.batches.length, 100)
  t.equal(latest?.batches.at(-1)?.openedBy.at, start + 1_200 * second)
  const queuing = compilePerKey({ collect: { for: '1h', max: 2 }, whileRunning: 'queue' })
  t.match(await read(queuing, start + 2_000 * second), { batches: { length: 0 }, collecting: 1_000 })
})

t.test('what is queued for a key is woken once its holder is over, and not while it retries', async (t) => {
  const keyId = newId()
  const [holder, early, late] = [newId(), newId(), newId()]
  const claims = [
    [holder, 'holds', 'running'],
    [late, 'queued', 'waiting'],
    [early, 'queued', 'waiting'],
  ] as const
  for (const [index, [id, place, status]] of claims.entries()) {
    const ruleId = newId()
    const of = { workspaceId: newId(), eventId: newId() }
    const at = new Date(start - index * second)
    await database.system.execution.create({
      data: {
        ...of,
        id,
        handlerId: ruleId,
        status,
        eventType: 'X',
        ruleVersion: 1,
        results: [],
        startedAt: at,
        dueAt: at,
      },
    })
    const flags = { isGranted: false, isCounted: false, isExclusive: true, expiresAt: at }
    await database.system.keyClaim.create({
      data: { ...of, ruleId, ...flags, executionId: id, keyId, place, acceptedAt: at },
    })
  }
  const wakeWith = async (status: 'running' | 'waiting' | 'retrying' | 'failed') => {
    await database.system.execution.update({ where: { id: holder }, data: { status } })
    return (await wakeQueues(database, [keyId])).map(({ executionId }) => executionId)
  }
  for (const status of ['running', 'waiting', 'retrying'] as const)
    t.strictSame(await wakeWith(status), [], status)
  t.strictSame(await wakeWith('failed'), [early])
  t.strictSame(await wakeWith('failed'), [], 'it holds the key now')
})
