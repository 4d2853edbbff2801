import t from 'tap'
import { FailedLogins } from '../src/failed-logins.js'

/** The test moves the clock, and ends the delays. */
function makeFailedLogins() {
  const clock = { now: 0 }
  const delays: (() => void)[] = []
  const wait = (_ms: number) => new Promise<void>((resolve) => void delays.push(resolve))
  const failedLogins = new FailedLogins(() => clock.now, wait)
  return {
    clock,
    delays,
    failedLogins,
    fail(address: string, times: number): void {
      for (let i = 0; i < times; i++) failedLogins.note(address)
    },
    /** Whether an attempt of the address is judged only after a delay. */
    async isDelayed(address: string): Promise<boolean> {
      const before = delays.length
      const admitted = failedLogins.admit(address)
      const isDelayed = delays.length > before
      delays.pop()?.()
      await admitted
      return isDelayed
    },
  }
}

t.test('after ten failures a client is delayed for the rest of a minute, and others are not', async (t) => {
  const { clock, fail, isDelayed } = makeFailedLogins()
  fail('10.0.0.1', 9)
  clock.now = 10_000
  t.notOk(await isDelayed('10.0.0.1'))
  fail('10.0.0.1', 1)
  t.ok(await isDelayed('10.0.0.1'))
  t.notOk(await isDelayed('10.0.0.2'))
  clock.now = 60_000
  t.notOk(await isDelayed('10.0.0.1'))
  fail('10.0.0.1', 1)
  t.notOk(await isDelayed('10.0.0.1'), 'and begins anew')
})

t.test(
  'the addresses of one IPv6 network of 64 bits are one client, and so is a mapped IPv4 address',
  async (t) => {
    const { fail, isDelayed } = makeFailedLogins()
    for (let i = 0; i < 10; i++) fail(`2001:db8:1:2:${i}::${i}`, 1)
    t.ok(await isDelayed('2001:db8:1:2:ffff::1'))
    t.notOk(await isDelayed('2001:db8:1:3::1'))
    fail('::ffff:10.0.0.1', 10)
    t.ok(await isDelayed('10.0.0.1'))
  },
)

t.test('six attempts of a client are delayed at a time, and all of them are judged', async (t) => {
  const { delays, failedLogins, fail } = makeFailedLogins()
  fail('10.0.0.1', 10)
  const admitted = Array.from({ length: 6 }, () => failedLogins.admit('10.0.0.1'))
  t.equal(delays.length, 6)
  t.equal(await failedLogins.admit('10.0.0.1'), false)
  for (const end of delays) end()
  t.strictSame(await Promise.all(admitted), Array(6).fill(true))
  const next = failedLogins.admit('10.0.0.1')
  t.equal(delays.length, 7, 'and the next one is delayed again')
  delays[6]?.()
  t.equal(await next, true)
})

t.test('a hundred failures of any clients delay every attempt for the rest of a minute', async (t) => {
  const { clock, fail, isDelayed } = makeFailedLogins()
  for (let i = 0; i < 99; i++) fail(`10.0.1.${i}`, 1)
  t.notOk(await isDelayed('10.0.0.1'))
  fail('10.0.2.1', 1)
  t.ok(await isDelayed('10.0.0.1'))
  clock.now = 60_000
  t.notOk(await isDelayed('10.0.0.1'))
})

t.test('beyond a thousand clients the oldest is forgotten', async (t) => {
  const { clock, fail, isDelayed } = makeFailedLogins()
  fail('10.0.0.1', 1)
  clock.now = 30_000
  fail('10.0.0.2', 10)
  fail('10.0.0.3', 10)
  for (let i = 0; i < 999; i++) fail(`10.1.${i >> 8}.${i & 255}`, 1)
  // The minute of all together has ended, and those of the clients have not.
  clock.now = 60_000
  t.notOk(await isDelayed('10.0.0.2'))
  t.ok(await isDelayed('10.0.0.3'))
})
