import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import t from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort, isPortFree } from '../../src/servers/ports.js'
import { findChild } from '../fixtures/find-child.js'
import { readCommand } from '../fixtures/read-command.js'
import { startDemo, triggerLead } from '../fixtures/start-demo.js'

t.test(
  'the demo runs, survives the kill of its launcher, keeps its ids, and leaves nothing running',
  async (t) => {
    const { path, remove } = await makeTemporaryDirectory()
    t.teardown(remove)
    const port = await findFreePort()
    const first = await startDemo(path, port)
    const { triggered, results } = await triggerLead(first.demo)
    t.equal(triggered, 1)
    t.equal(results.length, 1)
    t.match(results[0], { success: true, conditionsPassed: true })
    const { url, user, password } = first.demo.board
    const authorization = `Basic ${btoa(`${user}:${password}`)}`
    t.equal((await fetch(url, { headers: { authorization } })).status, 200, 'the board shows the queue')
    t.equal((await fetch(url)).status, 401)
    for (const file of ['demo.json', 'product.env', 'secrets.json', 'launcher.pid', 'logs', 'mail']) {
      t.equal((await stat(`${path}/${file}`)).mode & 0o077, 0, `${file} is nobody else’s business`)
    }
    first.launcher.kill('SIGKILL')
    await once(first.launcher, 'exit')
    const second = await startDemo(path, port)
    const { workspaceId, apiKey, webhook } = first.demo
    t.match(second.demo, { workspaceId, apiKey, webhook, board: { user, password } })
    t.match(await triggerLead(second.demo), { triggered: 1 }, 'there is still one rule, and not two')
    const servers = await Promise.all(
      ['postgres -D ', '-server 127.0.0.1:'].map((part) => findChild(second.launcher.pid, part)),
    )
    second.launcher.kill('SIGINT')
    const [code] = await once(second.launcher, 'exit')
    t.equal(code, 0)
    t.ok(await isPortFree(port))
    t.ok(await isPortFree(Number(new URL(second.demo.board.url).port)))
    await t.rejects(stat(`${path}/product.env`), { code: 'ENOENT' }, 'there is no product any more')
    for (const pid of servers) {
      t.ok(pid)
      t.equal(await readCommand(pid), undefined)
    }
  },
)
