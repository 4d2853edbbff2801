import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { newId, openPatiently } from '@automation/database'
import { openMetrics } from '@automation/process/telemetry'
import t, { type Test } from 'tap'
import { startWorker } from '../src/worker.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, databaseUrl, log, testConfig } from './fixtures/harness.js'

/** A line to Postgres that resets each connection while it is cut. */
async function openLine(t: Test) {
  const url = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.resetAndDestroy()
    const far = connect(Number(url.port), url.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => sockets.delete(from))
      from.pipe(to)
    }
    return undefined
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const own = new URL(databaseUrl)
  own.hostname = '127.0.0.1'
  own.port = `${(server.address() as AddressInfo).port}`
  return {
    url: own.href,
    cut() {
      isCut = true
      for (const socket of sockets) socket.resetAndDestroy()
    },
    mend() {
      isCut = false
    },
  }
}

t.test(
  'a worker that does not reach Postgres takes no jobs, until it is back, and others have them',
  async (t) => {
    const QUEUE_PREFIX = `{test-${newId()}}`
    const harness = await createHarness(t, { QUEUE_PREFIX })
    const line = await openLine(t)
    const database = openPatiently(line.url, 5)
    const metrics = createWorkerMetrics(openMetrics())
    let failed = 0
    metrics.jobsFailed.inc = () => void failed++
    const config = testConfig({ QUEUE_PREFIX, DATABASE_URL: line.url })
    const alone = startWorker(config, database, harness.queue, log, metrics)
    t.teardown(() => database.close())
    t.teardown(() => alone.close())
    await alone.ready()
    const first = harness.newEvent()
    await harness.inbox.accept(first)
    await harness.untilDone(first.id)

    line.cut()
    const unlucky = harness.newEvent()
    await harness.inbox.accept(unlucky)
    while (failed === 0) await setImmediate()
    harness.startSweeper()
    const other = harness.startWorker()
    // Each of them is a job of its own, and a worker that takes one from here on fails with it at once.
    for (let count = 0; count < 50; count++) {
      const event = harness.newEvent()
      await harness.inbox.accept(event)
      await harness.untilDone(event.id)
    }
    await harness.untilDone(unlucky.id)
    t.equal(failed, 1, 'nobody has failed with another job')
    await other.close()

    line.mend()
    const last = harness.newEvent()
    await harness.inbox.accept(last)
    await harness.untilDone(last.id)
    t.equal(failed, 1)
  },
)
