import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { findCounterFaults, readEffects } from '../fixtures/effects.js'
import { inParallel, type Tenant, until } from '../fixtures/product.js'
import { startProductWithTargets } from '../fixtures/product-with-targets.js'

/** More than may wait in line for one workspace: some are put off, and come back. */
const stuck = 300
const timeoutMs = 10_000
const samples = 120
const everyMs = 50

const running = await startProductWithTargets()
const tarpit = await openTarpit()
t.teardown(async () => {
  tarpit.close()
  await running.stop()
})

t.test(
  'a target that never answers holds back nobody but the runs that call it, and loses none',
  async (t) => {
    const [worker] = running.product.workers
    const other = await running.addWorkspace()
    await addRule(other, [
      { type: 'SEND_WEBHOOK', config: { url: `${running.targets.url}/fast` } },
      { type: 'CREATE_TASK', config: { title: 'Task' } },
    ])
    await addRule(running, [{ type: 'SEND_WEBHOOK', config: { url: tarpit.url, timeoutMs } }])

    await measure(other, 20)
    const alone = await measure(other, samples)
    // So that all of them are there at once.
    worker?.kill('SIGSTOP')
    await inParallel(stuck, 16, async () => void (await post(running, 'respond-async')))
    worker?.kill('SIGCONT')
    await until(async () => tarpit.connections() > 0)
    const beside = await measure(other, samples)
    t.ok(tarpit.connections() > 0, 'the calls were still under way')
    t.comment(`p95 ${beside} ms beside the tarpit, ${alone} ms without`)
    t.ok(beside < timeoutMs / 2, 'a call behind the tarpit would have waited until the timeout')

    const effects = await readEffects(running)
    t.equal(effects.executions.length, stuck, 'no run was lost')
    const reasons = new Set(effects.executions.map(({ error }) => error))
    t.strictSame(
      reasons,
      new Set([
        'Timed out after 10000 ms',
        `${tarpit.url} was not called: the last calls to it failed (no response, or a 5xx)`,
      ]),
    )
    t.strictSame(findCounterFaults(effects), [], 'and each was counted')
  },
)

/** Posts events at a steady pace, however long they take. Answers the p95 of what it takes until their answers are there (ms). */
async function measure(tenant: Tenant, count: number): Promise<number> {
  const posted: Promise<number>[] = []
  for (let index = 0; index < count; index++) {
    posted.push(timePost(tenant))
    await delay(everyMs)
  }
  const latencies = (await Promise.all(posted)).sort((one, other) => one - other)
  return Math.round(latencies[Math.floor(count * 0.95)] ?? Number.NaN)
}

async function timePost(tenant: Tenant): Promise<number> {
  const begin = performance.now()
  await post(tenant, 'wait=10')
  return performance.now() - begin
}

function post({ call }: Tenant, prefer: string) {
  return call('POST', '/api/automation-rules/trigger/LEAD_CREATED', { data: {} }, { prefer })
}

async function addRule({ call }: Tenant, actions: object[]): Promise<void> {
  await call('POST', '/api/automation-rules', { name: 'Rule', trigger: 'LEAD_CREATED', actions })
}

/** A server that accepts all requests and never responds. */
async function openTarpit() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
