import { newId, openDatabase } from '@automation/database'
import { type CompiledPerKey, decide } from '@automation/engine'
import t from 'tap'
import { readKeyStates } from '../src/keys/key-states.js'

const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
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
