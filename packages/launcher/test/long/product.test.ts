import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { mintToken } from '@automation/access'
import t from 'tap'
import { startProduct } from '../../src/product/product.js'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort } from '../../src/servers/ports.js'
import { findChild } from '../fixtures/find-child.js'
import { readCommand } from '../fixtures/read-command.js'
import { startDemo } from '../fixtures/start-demo.js'

t.test('the demo runs in any directory, and a second Ctrl-C leaves nothing behind', async (t) => {
  const { path, remove } = await makeTemporaryDirectory()
  t.teardown(remove)
  const directory = `${path}/Zoë's $HOME "data" \\ 1`
  const { launcher, demo, output } = await startDemo(directory, await findFreePort())
  const curl = /(curl -s [\s\S]*?-d '.*')/.exec(output)?.[1] ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', curl])
  t.match(JSON.parse(stdout), { triggered: 1 }, 'the printed command can be pasted')
  const servers = await Promise.all(
    ['postgres -D ', '-server 127.0.0.1:'].map((part) => findChild(launcher.pid, part)),
  )
  // A worker that hangs holds up an orderly end: the launcher wakes it, and the test puts it to sleep again.
  const worker = await findChild(launcher.pid, 'worker')
  const pausing = setInterval(() => sendSignal(worker, 'SIGSTOP'), 2)
  // The second one comes before an orderly end could be complete, also where this process is late with putting it to sleep.
  const interrupting = setInterval(() => launcher.kill('SIGINT'), 10)
  const [code] = await once(launcher, 'exit')
  clearInterval(interrupting)
  clearInterval(pausing)
  t.equal(code, 130)
  await t.rejects(stat(`${directory}/product.env`), { code: 'ENOENT' })
  t.equal(await readFile(`${directory}/launcher.pid`, 'utf8'), '')
  for (const pid of [worker, ...servers]) while ((await readCommand(pid)) !== undefined) await delay(20)
  t.notOk(await fetch(demo.baseUrl).catch(() => undefined))
})

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

t.test('the parts of a product can be killed and started again', async (t) => {
  const { path, remove } = await makeTemporaryDirectory()
  const product = await startProduct({ directory: path, workers: 2, durable: false })
  t.teardown(async () => {
    await product.stop()
    await remove()
  })
  t.equal(product.workers.length, 2)
  for (const part of [product.apis[0], product.workers[0], product.redis, product.postgres]) {
    part?.kill('SIGKILL')
    t.match(await part?.exited, { signal: 'SIGKILL' })
  }
  const { databaseUrl, redisUrl } = product
  await Promise.all([product.restartPostgres(), product.restartRedis()])
  t.match(product, { databaseUrl, redisUrl }, 'at their old places')

  const api = await product.startApi()
  const token = await mintToken({ secret: product.jwtSecret, userId: 'nobody', expiresInSeconds: 60 })
  const response = await fetch(`${api.baseUrl}/api/automation-rules`, {
    headers: { authorization: `Bearer ${token}`, 'x-workspace-id': '01234567-89ab-7def-8123-456789abcdef' },
  })
  t.equal(response.status, 403, 'the token is good, and the database is asked')
})
