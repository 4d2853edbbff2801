import { setTimeout as delay } from 'node:timers/promises'
import type { NodeProcess } from '@automation/launcher'
import pg from 'pg'
import t from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'

const events = 600_000
/** The last of them are in slices that begin where a killed worker's successor has come. */
const kills = 4
const path = '/api/automation-rules/backtests'

const running = await startRunningProduct({ workers: 0, env: { RETENTION_DAYS: '0' } })
const { product, call, workspaceId } = running
const client = new pg.Client({ connectionString: product.databaseUrl })
await client.connect()
t.teardown(async () => {
  await client.end()
  await running.stop()
})

interface Row {
  status: string
  lease: string | null
  after: string | null
  state: object | null
  report: object | null
}

await insertEvents()
const present = Date.now()
const body = {
  definition: {
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'score', operator: 'greater_than', value: 49 }],
    actions: [{ type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello', template: 'x' } }],
  },
  from: new Date(present - 7 * 86_400_000).toISOString(),
  to: new Date(present).toISOString(),
}

async function insertEvents(): Promise<void> {
  await client.query(
    `INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
     SELECT (left(hex, 8) || '-' || right(hex, 4) || '-7' || substr(md5(n::text), 1, 3) || '-8' || substr(md5(n::text), 4, 3)
             || '-' || substr(md5(n::text), 7, 12))::uuid,
            $1::uuid, 'LEAD_CREATED', json_build_object('score', n % 100, 'email', 'p' || n % 5000 || '@mail.example'), at, at
     FROM (SELECT n, at, lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS hex
           FROM (SELECT n, now() - make_interval(days => 6) * (1 - n::float8 / $2::float8) AS at
                 FROM generate_series(0, $2::int - 1) AS n) AS times) AS past`,
    [workspaceId, events],
  )
}

async function create(pace: 'gentle' | 'full'): Promise<string> {
  const { status, body: created } = await call('POST', path, { ...body, pace })
  if (status !== 202) throw new Error(`A backtest got ${status} ${JSON.stringify(created)}`)
  return created.id
}

async function read(id: string): Promise<Row> {
  const { rows } = await client.query<Row>(
    'SELECT status, lease, "after", state, report FROM backtests WHERE id = $1',
    [id],
  )
  return rows[0] as Row
}

async function reportOf(id: string): Promise<string> {
  await until(async () => !['waiting', 'running'].includes((await read(id)).status))
  const { body: found } = await call('GET', `${path}/${id}`)
  return JSON.stringify([found.status, found.progress, found.report])
}

interface Slice {
  lease: string | null
  after: string | null
}

/**
 * Kills a worker while it computes a slice of its own, which begins after another place than that of the last one that was killed.
 *
 * @param past the slice in which the last worker was killed; undefined for the first
 */
async function killInSlice(id: string, worker: NodeProcess, past?: Slice): Promise<Slice> {
  for (;;) {
    const { lease, after, status } = await read(id)
    if (status === 'done') throw new Error('It was done before its worker was killed')
    const hasProgress = past === undefined || (after !== null && after !== past.after)
    if (lease !== null && lease !== past?.lease && hasProgress) break
    await delay(5)
  }
  worker.kill('SIGKILL')
  await worker.exited
  const { lease, after } = await read(id)
  return { lease, after }
}

function firstDifference(one: string, other: string): string {
  const at = [...one].findIndex((character, index) => character !== other[index])
  return at === -1
    ? 'the reports are equal'
    : `${one.slice(at - 50, at + 50)} and ${other.slice(at - 50, at + 50)}`
}

/** A lease lasts for 30 s. */
async function expireLease(id: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'UPDATE backtests SET lease_until = now() WHERE id = $1 AND lease IS NOT NULL',
    [id],
  )
  return rowCount === 1
}

t.test(
  'a backtest whose workers are killed in the middle of slices reports the same to the byte',
  async (t) => {
    let worker = await product.startWorker()
    const undisturbed = await reportOf(await create('full'))
    t.match(undisturbed, /"scanned":600000,"considered":600000/)
    t.match(undisturbed, /"matched":300000/)

    const id = await create('full')
    let inHand = 0
    let past: Slice | undefined
    for (let kill = 0; kill < kills; kill++) {
      past = await killInSlice(id, worker, past)
      const { status } = await read(id)
      t.equal(status, 'running', `kill ${kill + 1}`)
      if (await expireLease(id)) inHand++
      worker = await product.startWorker()
    }
    t.ok(inHand > 0, `${inHand} of ${kills} workers died with a slice in their hands`)
    const report = await reportOf(id)
    t.ok(report === undisturbed, firstDifference(report, undisturbed))
    await worker.stop()
  },
)

t.test('a backtest that is cancelled stays so, whether its worker lives or was killed', async (t) => {
  let worker = await product.startWorker()
  const ofDead = await create('gentle')
  await killInSlice(ofDead, worker)
  t.equal((await call('DELETE', `${path}/${ofDead}`)).status, 204)
  worker = await product.startWorker()
  const ofLiving = await create('gentle')
  await until(async () => (await read(ofLiving)).lease !== null)
  t.equal((await call('DELETE', `${path}/${ofLiving}`)).status, 204)
  const { report } = await read(ofLiving)

  // The worker goes on, and so its slice of the cancelled one is over.
  t.match(await reportOf(await create('full')), /^\["done",1,/)
  for (const id of [ofDead, ofLiving])
    t.match(await read(id), { status: 'cancelled', lease: null, state: null }, id)
  t.same((await read(ofLiving)).report, report, 'its slice stored nothing any more')
  const { rows } = await client.query(`SELECT id FROM backtests WHERE status IN ('waiting', 'running')`)
  t.same(rows, [])
  await worker.stop()
})

t.test('the difference of a draft whose workers are killed equals a backtest from scratch', async (t) => {
  let worker = await product.startWorker()
  const rules = '/api/automation-rules'
  const { body: rule } = await call('POST', rules, { name: 'Rule', ...body.definition, conditions: [] })
  const draft = `${rules}/${rule.id}/draft`
  await call('PUT', draft, { name: 'Draft', ...body.definition })
  await client.query('UPDATE rule_drafts SET saved_at = $1', [body.from])
  t.match((await call('GET', draft)).body, { difference: null, differenceFault: null })
  const { rows } = await client.query<{ id: string }>(`SELECT id FROM backtests WHERE kind = 'draft'`)
  const id = rows[0]?.id ?? ''
  let past: Slice | undefined
  for (let kill = 0; kill < 2; kill++) {
    past = await killInSlice(id, worker, past)
    await expireLease(id)
    worker = await product.startWorker()
  }
  await until(async () => (await read(id)).status === 'done')
  const { computedAt: _, ...difference } = (await call('GET', draft)).body.difference
  const range = { from: body.from, to: difference.to, pace: 'full' }
  const scratch = await call('POST', path, { ruleId: rule.id, definition: body.definition, ...range })
  const [, , report] = JSON.parse(await reportOf(scratch.body.id))
  const [one, other] = [JSON.stringify(difference), JSON.stringify(report)]
  t.match(difference, { scanned: 600_000, difference: { same: 300_000, added: 0, removed: 300_000 } })
  t.ok(one === other, firstDifference(one, other))
  await worker.stop()
})
