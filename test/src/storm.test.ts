import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

t.setTimeout(900_000)

const command = fileURLToPath(new URL('storm/main.js', import.meta.url))
const seed = 20_261_121
const kinds = 11

t.test('a storm of faults loses nothing that was acknowledged, and nothing happens twice', async (t) => {
  // As its users run it. In this process, what is left of so many cut connections kept Node from ending, now and then.
  const running = promisify(execFile)(process.execPath, [command, '--seed', `${seed}`])
  t.teardown(() => running.child.kill('SIGTERM'))
  const { stdout } = await running.catch((error) => error as { stdout: string })
  t.comment(stdout)
  t.equal(running.child.exitCode, 0, 'it ends well')
  t.match(stdout, /; drained in .*; violations 0; /, 'nothing is left to do, and the books are even')
  const [, faults = ''] = /\d+ faults \((.*?)\)/.exec(stdout) ?? []
  const counts = faults.split(', ').map((kind) => Number(kind.split(' ').at(-1)))
  t.equal(counts.filter((count) => count > 0).length, kinds, `each kind of fault has happened: ${faults}`)
  t.match(stdout, /calls ok [1-9]\d*, failed \d+, unknown [1-9]/, 'some callers were left without an answer')
})
