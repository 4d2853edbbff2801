import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const command = fileURLToPath(new URL('./storm/main.js', import.meta.url))
const { TEST_SEED: seed = '1', TEST_LONG } = process.env

t.test('a storm loses no tick of a schedule, and makes none twice', async (t) => {
  const size = TEST_LONG ? [] : ['--small']
  const args = [command, '--schedules', '--seed', String(Number.parseInt(seed, 16)), ...size]
  const running = promisify(execFile)(process.execPath, args)
  t.teardown(() => running.child.kill('SIGTERM'))
  const { stdout, stderr } = await running.catch((error) => error as { stdout: string; stderr: string })
  t.comment(`${stdout}${stderr}`)
  t.equal(running.child.exitCode, 0, 'it ends well')
  t.match(stdout, /; \d{2,} ticks, which stand for [1-9]\d* more; [1-9]\d* changes; /)
  t.match(stdout, /all workers away 1.*; violations 0;/)
})
