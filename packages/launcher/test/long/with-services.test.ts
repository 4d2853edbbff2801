import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isPortFree } from '../../src/servers/ports.js'

const withServices = fileURLToPath(new URL('../../src/with-services.js', import.meta.url))

function run(...command: string[]) {
  return spawn(process.execPath, [withServices, ...command], { stdio: ['ignore', 'pipe', 'inherit'] })
}

t.test(
  'a command gets a private migrated Postgres and a private Redis, and its exit code is passed on',
  async (t) => {
    const script = `
    import { openPatiently } from '@automation/database'
    const database = openPatiently(process.env.DATABASE_URL, 1)
    console.log(await database.system.workspace.count(), process.env.REDIS_URL)
    process.exit(7)`
    const child = run(process.execPath, '--input-type=module', '-e', script)
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    t.match(output, /^0 redis:\/\/:[\w-]{32}@127\.0\.0\.1:\d+$/m)
    t.equal(code, 7)
  },
)

// Prints its DATABASE_URL, and exits with 9 on SIGTERM, or when its launcher is gone.
const waitingScript = 'trap "exit 9" TERM; echo $DATABASE_URL; while kill -0 $PPID; do sleep 0.05; done 2>&-'
const waiting = ['sh', '-c', waitingScript] as const

t.test(
  'a signal reaches the command, and the servers end with the launcher, even when the launcher is killed',
  async (t) => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const child = run(...waiting)
      const [line] = await once(child.stdout, 'data')
      const port = Number(new URL(String(line).trim()).port)
      t.notOk(await isPortFree(port))
      child.kill(signal)
      t.same(await once(child, 'exit'), signal === 'SIGTERM' ? [9, null] : [null, signal])
      while (!(await isPortFree(port))) await delay(20)
      t.pass(`nobody listens any more after ${signal}`)
    }
  },
)

t.test('the command inherits no setting of the shell', async (t) => {
  const env = { ...process.env, SMTP_URL: 'smtp://mail.example.com', PORT: '3000', TEST_SEED: '7' }
  const script = 'echo "$SMTP_URL:$PORT:$TEST_SEED"'
  const child = spawn(process.execPath, [withServices, 'sh', '-c', script], { env })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  t.equal(output, '::7\n')
})

t.test('a command that does not exist is reported in one sentence', async (t) => {
  const child = spawn(process.execPath, [withServices, 'no-such-command'])
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  t.match(errors, /^no-such-command could not be started/)
  t.equal(code, 1)
})
