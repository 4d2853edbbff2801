import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort } from '../../src/servers/ports.js'
import { runStart, startDemo, triggerLead } from '../fixtures/start-demo.js'

const canMount = process.platform === 'linux' && spawnSync('unshare', ['--mount', 'true']).status === 0

/** An empty disk of this size (KiB). */
async function mountDisk(t: Test, size: number): Promise<string> {
  const { path, remove } = await makeTemporaryDirectory()
  const disk = `${path}/disk`
  await mkdir(disk)
  t.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}k`, 'tmpfs', disk]).status, 0)
  t.teardown(async () => {
    spawnSync('umount', [disk])
    await remove()
  })
  return disk
}

const skip = canMount ? false : 'needs the right to mount a disk'

t.test('a full disk ends a start in a sentence, and the next one goes on', { skip }, async (t) => {
  const disk = await mountDisk(t, 128)
  const PORT = `${await findFreePort()}`
  const full = await runStart(`${disk}/data`, { PORT })
  t.equal(full.code, 1)
  t.match(full.errors, `No room is left on the disk of ${disk}/data: make some and start again, since `)
  t.notMatch(full.errors, /^ {4}at /m, 'no stack')
  const secrets = await readFile(`${disk}/data/secrets.json`, 'utf8')
  t.equal(spawnSync('mount', ['-o', 'remount,size=200m', disk]).status, 0)
  const { launcher } = await startDemo(`${disk}/data`, Number(PORT))
  t.equal(await readFile(`${disk}/data/secrets.json`, 'utf8'), secrets)
  await writeFile(`${disk}/fill`, Buffer.alloc(200 * 1024 * 1024)).catch(() => {})
  launcher.kill('SIGKILL')
  await once(launcher, 'exit')
  const again = await runStart(`${disk}/data`, { PORT })
  t.equal(again.code, 1)
  t.match(again.errors, `No room is left on the disk of ${disk}/data`)
  t.notMatch(again.errors, /^ {4}at /m)
  await rm(`${disk}/fill`)
  const last = await startDemo(`${disk}/data`, Number(PORT))
  t.match(await triggerLead(last.demo), { triggered: 1 }, 'the rule is there')
  last.launcher.kill('SIGINT')
  await once(last.launcher, 'exit')
})
