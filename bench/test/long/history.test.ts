import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const entry = fileURLToPath(new URL('../../src/main.js', import.meta.url))

/** A run in a temporary directory of its own, which the servers' user may enter. */
async function startBench(t: Pick<typeof import('tap').t, 'teardown'>, ...args: string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-history-'))
  await chmod(directory, 0o711)
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const child = spawn(process.execPath, [entry, 'history', '--stored', '2000', ...args], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { directory, child, closed: once(child, 'close') }
}

t.test('a short run prints its command, tables and aims, and leaves nothing behind', async (t) => {
  const json = `${t.testdir()}/history.json`
  const args = ['--seconds', '1', '--rounds', '1', '--json', json]
  const { directory, child, closed } = await startBench(t, ...args)
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  t.equal(code, 0, errors)
  t.match(errors, /2,000 stored events need [\d.]+ GB in .*, which has [\d.,]+ GB free/)
  t.match(output, 'npm run bench -- history --seconds 1 --rounds 1 --stored 2000')
  for (const line of ['trigger', 'search', 'why', 'backtest'])
    for (const size of ['200', '2,000']) t.match(output, new RegExp(`\\n${line}, ${size} stored events @`))
  for (const line of [
    'live load, beside retention',
    'COPY of 2,000',
    'events_pkey',
    'vacuum of events, at the end',
  ])
    t.match(output, `\n${line}`)
  const { tables } = JSON.parse(await readFile(json, 'utf8'))
  const figuresOf = (label: string) =>
    tables.flat().find((line: { label: string }) => line.label.startsWith(label)).rounds[0]
  t.ok(figuresOf('why, 2,000')['accepted/s'] > 0)
  // null is NaN: it has removed all, or it would be an error.
  t.not(figuresOf('live load, beside retention')['removed rows/s'], undefined)
  t.same(await readdir(directory), [])
})

t.test('an interrupted run leaves nothing behind', async (t) => {
  const { directory, child, closed } = await startBench(t)
  for await (const chunk of child.stderr) {
    if (!`${chunk}`.includes('0 of 2,000 events are stored')) continue
    child.kill('SIGINT')
    break
  }
  const [, signal] = await closed
  t.equal(signal, 'SIGINT')
  while ((await readdir(directory)).length > 0) await delay(100)
  t.pass('the directory is empty')
})
