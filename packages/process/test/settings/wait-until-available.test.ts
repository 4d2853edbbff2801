import { setTimeout as delay } from 'node:timers/promises'
import { type Dependency, waitUntilAvailable } from '@automation/process/settings'
import t from 'tap'

/** A log that keeps its lines, and resolves when one of them matches. */
function openLog() {
  const lines: string[] = []
  const waiters: { pattern: RegExp; resolve: () => void }[] = []
  const add = (line: string) => {
    lines.push(line)
    for (const { pattern, resolve } of waiters) if (pattern.test(line)) resolve()
  }
  return {
    lines,
    log: { warn: add, info: add, fatal: add },
    saw: (pattern: RegExp) => new Promise<void>((resolve) => waiters.push({ pattern, resolve })),
  }
}

t.test(
  'what is missing is logged although another check hangs, and the rest as soon as it responds',
  async (t) => {
    const { lines, log, saw } = openLog()
    let respond = (_fault: string | undefined): void => {}
    let isRedisAway = true
    let checks = 0
    const dependencies: Dependency[] = [
      {
        name: 'Postgres',
        findFault: () => {
          checks++
          return new Promise((resolve) => {
            respond = resolve
          })
        },
      },
      { name: 'Redis', findFault: async () => (isRedisAway ? 'Redis is unavailable' : undefined) },
    ]
    const first = saw(/^waiting: Postgres does not respond; Redis is unavailable$/)
    const second = saw(/^waiting: Postgres does not respond$/)
    const waiting = waitUntilAvailable(dependencies, { timeoutSeconds: 3_600, log })
    await first
    isRedisAway = false
    await second
    t.equal(checks, 1, 'a check that hangs is not begun again')
    respond(undefined)
    t.equal(await waiting, undefined)
    t.equal(lines.at(-1), 'all dependencies are available')
  },
)

t.test('a check that hangs does not delay the timeout', async (t) => {
  const { log } = openLog()
  const missing = await waitUntilAvailable([{ name: 'Postgres', findFault: () => new Promise(() => {}) }], {
    timeoutSeconds: 1,
    log,
  })
  t.equal(missing, 'Postgres does not respond')
})

t.test('while a check hangs again, what the one before found is not logged again', async (t) => {
  const { lines, log } = openLog()
  let checks = 0
  const findFault = () => {
    checks++
    return delay(checks === 1 ? 0 : 1_500, 'Postgres is away')
  }
  const missing = await waitUntilAvailable([{ name: 'Postgres', findFault }], { timeoutSeconds: 3, log })
  t.equal(missing, 'Postgres is away')
  t.ok(checks > 1)
  t.strictSame(lines, ['waiting: Postgres is away'])
})

t.test('where all is available nothing is logged', async (t) => {
  const { lines, log } = openLog()
  const missing = await waitUntilAvailable([{ name: 'Postgres', findFault: async () => undefined }], {
    timeoutSeconds: 1,
    log,
  })
  t.equal(missing, undefined)
  t.strictSame(lines, [])
})
