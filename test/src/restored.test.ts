import { readFile } from 'node:fs/promises'
import { createErasure, createSealer, startAfterRestore } from '@automation/access'
import type { NodeProcess } from '@automation/launcher'
import t from 'tap'
import { startRunningProduct, until } from './fixtures/product.js'

const running = await startRunningProduct({ workers: 0, env: { METRICS_PORT: '0', LOG_LEVEL: 'info' } })
const { product, database, workspaceId, call, stop } = running
t.teardown(stop)

const rules = '/api/automation-rules'
const rule = {
  ...{ name: 'Call', trigger: 'LEAD_CREATED', conditions: [] },
  actions: [{ type: 'CREATE_TASK', config: { title: '{{email}}' } }],
}
await call('POST', rules, rule)
const schedule = { ...rule, name: 'Tick', trigger: 'SCHEDULE', schedule: { every: '1m' } }
const tick = await call('POST', rules, schedule)
const own = database.forWorkspace(workspaceId)

/** The one statement of the runbook. */
const mark = () => database.system.$executeRawUnsafe('INSERT INTO restores DEFAULT VALUES')
const post = (email: string) =>
  call('POST', `${rules}/trigger/LEAD_CREATED`, { data: { email } }, { prefer: 'respond-async' })
const start = () => startAfterRestore(database, 'cli:test')

async function ask({ port }: NodeProcess): Promise<{ status: number; body: object }> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  return { status: response.status, body: (await response.json()) as object }
}

async function readPaused({ metricsPort }: NodeProcess): Promise<string | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return /^automation_paused (\d)$/m.exec(text)?.[1]
}

t.test('after a restore a worker runs nothing but erasures, and says so, until it is started', async (t) => {
  await mark()
  await mark()
  await post('grace@example.com')
  await post('ada@example.com')
  await own.rule.update({ where: { id: tick.body.id }, data: { nextRunAt: new Date(Date.now() - 1_000) } })
  const worker = await product.startWorker()
  t.strictSame(await ask(worker), { status: 200, body: { status: 'paused' } })
  t.equal(await readPaused(worker), '1')
  const sealer = createSealer(product.encryptionKey)
  const administrator = { database, workspaceId, actor: 'user:tester' }
  const erasures = () => own.erasure.findMany({ select: { status: true, unfinished: true } })
  await createErasure(administrator, sealer, { path: 'email', value: 'ada@example.com' })
  // An erasure takes several looks of the worker: meanwhile it would have run the events.
  await until(async () => (await erasures())[0]?.status === 'incomplete')
  t.strictSame(await erasures(), [{ status: 'incomplete', unfinished: 1 }], 'what is not done is left')
  t.equal(await own.event.count({ where: { doneAt: { not: null } } }), 0)
  t.equal(await own.event.count(), 2, 'no tick was made')
  const readLog = () => readFile(worker.log, 'utf8')
  await until(async () => (await readLog()).includes('turned leaves of history'))
  t.equal(await start(), 2)
  await until(async () => (await own.event.count({ where: { doneAt: { not: null } } })) === 3)
  await until(async () => (await ask(worker)).status === 200 && (await readPaused(worker)) === '0')
  t.equal(await start(), 0, 'to start twice changes nothing')
  const lines = (await readFile(worker.log, 'utf8')).split('\n').filter((line) => line.includes('paused'))
  t.equal(lines.length, 1)
  t.match(lines[0], /"asOf":"20[^"]+".*Nothing runs until: npm run admin -- restored start/)
  await worker.stop()
})

t.test('a worker under which the database is restored ends, and the next one is paused', async (t) => {
  const worker = await product.startWorker()
  await mark()
  t.match(await worker.exited, { code: 1 })
  t.match(await readFile(worker.log, 'utf8'), /the database was restored under this worker/)
  await post('grace@example.com')
  const next = await product.startWorker()
  t.strictSame(await ask(next), { status: 200, body: { status: 'paused' } })
  next.kill('SIGKILL')
  await next.exited
  const last = await product.startWorker()
  t.strictSame(await ask(last), { status: 200, body: { status: 'paused' } }, 'a restart starts nothing')
  await start()
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  await last.stop()
})
