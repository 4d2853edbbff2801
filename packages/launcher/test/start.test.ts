import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { lockDirectory } from '../src/demo/launcher-lock.js'
import { makeTemporaryDirectory } from '../src/product/temporary-directory.js'
import { findFreePort } from '../src/servers/ports.js'
import { startDemo, triggerLead } from './fixtures/start-demo.js'

const start = fileURLToPath(new URL('../src/start.js', import.meta.url))

async function runStart(directory: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [start, directory], { env: { ...process.env, ...env } })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit'), text(child.stdout)])
  return { code, errors }
}

t.test('a taken port is reported in one sentence, before anything is started', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const directory = t.testdir()
  const { code, errors } = await runStart(directory, { PORT: `${port}` })
  t.equal(code, 1)
  t.equal(errors, `Port ${port} is taken; set PORT to another one\n`)
  t.same(await readdir(directory), ['launcher.pid'], 'nothing was made')
  t.equal(await readFile(`${directory}/launcher.pid`, 'utf8'), '', 'the directory is released')
})

t.test('an invalid port is reported in one sentence', async (t) => {
  const { code, errors } = await runStart(t.testdir(), { PORT: '80a' })
  t.equal(code, 1)
  t.equal(errors, 'PORT is 80a, but must be a number from 1 to 65535\n')
})

t.test('a second start beside a running product is refused in one sentence', async (t) => {
  const directory = t.testdir()
  const { unlock } = lockDirectory(`${directory}/launcher.pid`)
  const { code, errors } = await runStart(directory, { PORT: `${await findFreePort()}` })
  unlock()
  t.equal(code, 1)
  t.equal(
    errors,
    `The product is already running as process ${process.pid}: use that one, or stop it first\n`,
  )
  t.notOk(lockDirectory(`${directory}/launcher.pid`).wasKilled)
})

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

t.test('a directory that must not be written is reported in one sentence', async (t) => {
  const { code, errors } = await runStart('/dev/null/data', { PORT: `${await findFreePort()}` })
  t.equal(code, 1)
  t.match(errors, /^\/dev\/null\/data cannot be used: E[A-Z]+[^\n]*\n$/)
})
