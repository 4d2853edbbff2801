import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const command = fileURLToPath(new URL('../fidelity/main.js', import.meta.url))
const seed = process.env.TEST_SEED ?? '20261123'
/** A million takes longer than a file may: `npm run fidelity -- --events 1000000`. */
const events = process.env.TEST_LARGE ? '200000' : '3000'

t.test('backtests and why name exactly what happened, while rules change and workers die', async (t) => {
  const running = promisify(execFile)(process.execPath, [command, '--seed', seed, '--events', events])
  t.teardown(() => running.child.kill('SIGTERM'))
  const { stdout } = await running.catch((error) => error as { stdout: string })
  t.comment(stdout)
  t.match(stdout, /; differences 0; /)
  t.equal(running.child.exitCode, 0)
})
