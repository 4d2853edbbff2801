import { newId, readClock } from '@automation/database'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { ClockWatch } from '../src/clock-watch.js'

// The files of a group share a process, and with it what is known of the clock.
t.teardown(() => readClock({ run: async () => [{ now: Date.now() }] as never[] }))
const redis = new Redis(process.env.REDIS_URL ?? '')
t.teardown(() => redis.disconnect())

const wrongMs = 600_000
const read = Date.now

/** Processes of one service, each with its own clock, and one Postgres with the clock of this machine. */
function openService(t: Test, to: Redis = redis) {
  const prefix = `{test-${newId()}}`
  const lines: object[] = []
  const note = (fields: object, message: string) => void lines.push({ ...fields, message })
  const database = { run: async () => [{ now: read() }] as never[] }
  let shiftMs = 0
  t.intercept(Date, 'now', { value: () => read() + shiftMs })
  const open = (kind: 'api' | 'worker', aheadMs: number) => {
    const watch = new ClockWatch({ kind, database, redis: to, prefix, log: { error: note, info: note } })
    return {
      async look(nowAheadMs = aheadMs): Promise<string> {
        shiftMs = nowAheadMs
        await watch.look()
        return watch.state
      },
    }
  }
  return { prefix, lines, open }
}

t.test(
  'a process whose clock differs is outvoted while another of its kind agrees with Postgres',
  async (t) => {
    const { lines, open } = openService(t)
    const [wrong, right] = [open('api', -wrongMs), open('api', 0)]
    t.equal(await wrong.look(), 'differs', 'alone, it stays ready')
    t.equal(await right.look(), 'ok')
    t.equal(await wrong.look(), 'outvoted')
    t.match(lines, [
      { aheadSeconds: -600, message: 'the clocks of this process and of Postgres differ' },
      { aheadSeconds: -600, message: /not ready$/ },
    ])
    t.equal(lines.length, 2)
    t.equal(await wrong.look(0), 'ok', 'once it is set')
    t.match(lines[2], { aheadSeconds: 0, message: /again$/ })
  },
)

t.test("a worker's clock says nothing of an API, which no worker can replace", async (t) => {
  const { open } = openService(t)
  await open('worker', 0).look()
  t.equal(await open('api', wrongMs).look(), 'differs')
})

t.test(
  "where more clocks differ from Postgres than agree, Postgres' clock may be the wrong one",
  async (t) => {
    const { open } = openService(t)
    await open('api', 0).look()
    const [first, second, third] = [open('api', wrongMs), open('api', wrongMs), open('api', wrongMs)]
    t.equal(await first.look(), 'outvoted')
    t.equal(await second.look(), 'outvoted')
    t.equal(await third.look(), 'differs')
    t.strictSame(
      [await first.look(), await second.look()],
      ['differs', 'differs'],
      'every process is ready again',
    )
  },
)

t.test('what ended processes have announced is forgotten', async (t) => {
  const { prefix, open } = openService(t)
  const key = `${prefix}:clocks:api`
  await redis.hset(key, newId(), `0 ${read() - 46_000}`)
  t.equal(await open('api', wrongMs).look(), 'differs')
  t.equal(await redis.hlen(key), 1)
  t.ok((await redis.pttl(key)) > 0, 'and all of it, once nobody announces anything')
})

t.test('without Redis, every process is ready', async (t) => {
  const nowhere = new Redis('redis://127.0.0.1:1', { enableOfflineQueue: false, retryStrategy: () => null })
  nowhere.on('error', () => {})
  t.equal(await openService(t, nowhere).open('worker', wrongMs).look(), 'differs')
})
