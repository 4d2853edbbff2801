import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort } from '../../src/servers/ports.js'
import { copyClone } from '../fixtures/copy-clone.js'
import { findChild } from '../fixtures/find-child.js'
import { readCommand } from '../fixtures/read-command.js'

const worker = 'apps/worker/src/main.ts'
const api = 'apps/api/src/server.ts'
const inbox = 'packages/queue/src/inbox.ts'
const { path, remove } = await makeTemporaryDirectory()
const clone = `${path}/clone`
await copyClone(clone)
const port = await findFreePort()
const launcher = spawn(
  process.execPath,
  [`${clone}/packages/launcher/dist/bundle/start.js`, `${path}/data`, '--watch'],
  {
    env: { ...process.env, PORT: `${port}`, DATABASE_URL: '', REDIS_URL: '', USE_BUNDLES: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const exited = once(launcher, 'exit')
t.teardown(async () => {
  launcher.kill('SIGKILL')
  await exited
  await remove()
})
/** Texts of sources without the edits. */
const sources = new Map<string, string>()
let printed = ''
launcher.stdout.setEncoding('utf8').on('data', (text: string) => {
  printed += text
})

/** @returns what is printed from here on, until the pattern is in it */
async function readUntil(pattern: RegExp, act = async () => {}): Promise<string> {
  const from = printed.length
  await act()
  const ended = exited.then(() => Promise.reject(new Error(`The launcher has ended:\n${printed}`)))
  while (!pattern.test(printed.slice(from))) await Promise.race([once(launcher.stdout, 'data'), ended])
  return printed.slice(from)
}

/** Puts a statement at the begin of a source. */
async function edit(file: string, statement: string): Promise<void> {
  const path = `${clone}/${file}`
  const source = sources.get(file) ?? (await readFile(path, 'utf8'))
  sources.set(file, source)
  await writeFile(path, `${statement}\n${source}`)
}
const findAll = () =>
  Promise.all(['api', 'worker', 'board', 'console'].map((name) => findChild(launcher.pid, `apps/${name}/`)))
const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok

t.test('npm start -- --watch says when it watches', async () => {
  await readUntil(/Watching: an edit is compiled/)
})

t.test('an edit starts the program again that it changes, and no other', async (t) => {
  const before = await findAll()
  const said = await readUntil(/started again/, () => edit(worker, "console.log('edited')"))
  t.match(said, /^worker-1 started again: \d+\.\d s$/m)
  const after = await findAll()
  t.notSame(after[1], before[1])
  t.strictSame(after.toSpliced(1, 1), before.toSpliced(1, 1), 'API, board and console are the same processes')
  t.match(await readFile(`${path}/data/logs/worker-2.log`, 'utf8'), /^edited$/m, 'the new source runs')
})

t.test('a file that cannot be compiled is named in one sentence, and what runs goes on', async (t) => {
  const before = await findAll()
  const said = await readUntil(/goes on\.\n/, () => edit(api, 'const = 1'))
  t.equal(
    said.trim(),
    'apps/api/src/server.ts:1:6 cannot be compiled (Expected identifier but found "="): what ran before the edit goes on.',
  )
  t.strictSame(await findAll(), before)
  t.ok(await isReady())
  await readUntil(/api-1 started again/, () => edit(api, ''))
  t.ok(await isReady(), 'it starts again on its port')
  t.strictSame((await findAll()).slice(1), before.slice(1))
})

t.test('an edit of a package starts those again that import it', async (t) => {
  const before = await findAll()
  const said = await readUntil(/board-1 started again/, () => edit(inbox, 'void 0'))
  t.match(said, /^api-2 started again[\s\S]*^worker-2 started again/m)
  t.equal((await findAll())[3], before[3], 'the console does not import it')
})

t.test('a program that does not start is told, and starts after the next edit', async (t) => {
  const said = await readUntil(/no such worker[\s\S]*\n/, () =>
    edit(worker, "throw new Error('no such worker')"),
  )
  t.match(said, /^worker-4 ended before it was ready/m)
  t.ok(await isReady())
  await readUntil(/started again/, () => edit(worker, ''))
  t.ok((await findAll()).every((pid) => pid > 0))
})

t.test('a program that crashes after an edit is told, and starts after the next edit', async (t) => {
  const [pid = 0] = await findAll()
  await readUntil(/^api-3 has ended unexpectedly \(SIGKILL\)[\s\S]*\n/m, async () => {
    process.kill(pid, 'SIGKILL')
  })
  await readUntil(/api-3 started again/, () => edit(api, 'void 0'))
  t.ok(await isReady())
})

t.test('a Ctrl-C ends all of it', async (t) => {
  const pids = await Promise.all([...(await findAll()), findChild(launcher.pid, 'scripts/watch')])
  t.ok(pids.every((pid) => pid > 0))
  launcher.kill('SIGINT')
  t.strictSame(await exited, [0, null])
  t.match(printed, /\nStopped\.\n$/)
  t.strictSame(
    await Promise.all(pids.map(readCommand)),
    pids.map(() => undefined),
  )
})
