import t from 'tap'
import { FailedLogins } from '../../src/sign-in/failed-logins.js'

/** The test moves the clock, and ends the delays. */
function makeFailedLogins() {
  const clock = { now: 0 }
  const delays: (() => void)[] = []
  let waits = true
  const wait = (_ms: number) =>
    waits ? new Promise<void>((resolve) => void delays.push(resolve)) : Promise.resolve()
  const failedLogins = new FailedLogins(() => clock.now, wait)
  return {
    clock,
    delays,
    failedLogins,
    async fail(address: string, times: number): Promise<void> {
      waits = false
      for (let i = 0; i < times; i++) await failedLogins.reserve(address)
      waits = true
    },
    /** Whether an attempt of the address is checked only after a delay. The attempt succeeds. */
    async isDelayed(address: string): Promise<boolean> {
      const before = delays.length
      const reserved = failedLogins.reserve(address)
      const isDelayed = delays.length > before
      if (isDelayed) delays.pop()?.()
      ;(await reserved)?.giveBack()
      return isDelayed
    },
  }
}

t.test('after ten failures a client is delayed for the rest of a minute, and others are not', async (t) => {
  const { clock, fail, isDelayed } = makeFailedLogins()
  await fail('10.0.0.1', 9)
  clock.now = 10_000
  t.notOk(await isDelayed('10.0.0.1'))
  await fail('10.0.0.1', 1)
  t.ok(await isDelayed('10.0.0.1'))
  t.notOk(await isDelayed('10.0.0.2'))
  clock.now = 60_000
  t.notOk(await isDelayed('10.0.0.1'))
  await fail('10.0.0.1', 1)
  t.notOk(await isDelayed('10.0.0.1'), 'and begins anew')
})

t.test(
  'the addresses of one IPv6 network of 64 bits are one client, and so is a mapped IPv4 address',
  async (t) => {
    const { fail, isDelayed } = makeFailedLogins()
    for (let i = 0; i < 10; i++) await fail(`2001:db8:1:2:${i}::${i}`, 1)
    t.ok(await isDelayed('2001:db8:1:2:ffff::1'))
    t.notOk(await isDelayed('2001:db8:1:3::1'))
    await fail('::ffff:10.0.0.1', 10)
    t.ok(await isDelayed('10.0.0.1'))
  },
)

t.test('six attempts of a client are delayed at a time, and all of them are checked', async (t) => {
  const { delays, failedLogins, fail } = makeFailedLogins()
  await fail('10.0.0.1', 10)
  const reserved = Array.from({ length: 6 }, () => failedLogins.reserve('10.0.0.1'))
  t.equal(delays.length, 6)
  t.equal(await failedLogins.reserve('10.0.0.1'), undefined)
  for (const end of delays) end()
  t.equal((await Promise.all(reserved)).filter(Boolean).length, 6)
  const next = failedLogins.reserve('10.0.0.1')
  t.equal(delays.length, 7, 'and the next one is delayed again')
  delays[6]?.()
  t.ok(await next)
})

t.test('a hundred failures of any clients delay every attempt for the rest of a minute', async (t) => {
  const { clock, fail, isDelayed } = makeFailedLogins()
  for (let i = 0; i < 99; i++) await fail(`10.0.1.${i}`, 1)
  t.notOk(await isDelayed('10.0.0.1'))
  await fail('10.0.2.1', 1)
  t.ok(await isDelayed('10.0.0.1'))
  clock.now = 60_000
  t.notOk(await isDelayed('10.0.0.1'))
})

t.test('beyond a thousand clients the oldest is forgotten', async (t) => {
  const { clock, fail, isDelayed } = makeFailedLogins()
  await fail('10.0.0.1', 1)
  clock.now = 30_000
  await fail('10.0.0.2', 10)
  await fail('10.0.0.3', 10)
  for (let i = 0; i < 999; i++) await fail(`10.1.${i >> 8}.${i & 255}`, 1)
  // The minute of all together has ended, and those of the clients have not.
  clock.now = 60_000
  t.ok(await isDelayed('10.0.0.3'))
  t.notOk(await isDelayed('10.0.0.2'))
})

t.test('of a hundred guesses at the same time, ten are checked at once and six later', async (t) => {
  const { delays, failedLogins } = makeFailedLogins()
  let checked = 0
  let refused = 0
  const guesses = Array.from({ length: 100 }, async () => {
    if (await failedLogins.reserve('10.0.0.1')) checked++
    else refused++
  })
  await new Promise(setImmediate)
  t.strictSame({ checked, refused, delayed: delays.length }, { checked: 10, refused: 84, delayed: 6 })
  for (const end of delays) end()
  await Promise.all(guesses)
  t.equal(checked, 16)
})

t.test('an attempt that did not fail is given back, once, and only within its minute', async (t) => {
  const { clock, failedLogins, fail, isDelayed } = makeFailedLogins()
  const attempts = []
  for (let i = 0; i < 10; i++) attempts.push(await failedLogins.reserve('10.0.0.1'))
  t.ok(await isDelayed('10.0.0.1'))
  attempts[0]?.giveBack()
  attempts[0]?.giveBack()
  t.notOk(await isDelayed('10.0.0.1'))
  await fail('10.0.0.1', 1)
  t.ok(await isDelayed('10.0.0.1'))
  clock.now = 60_000
  await fail('10.0.0.1', 10)
  attempts[1]?.giveBack()
  t.ok(await isDelayed('10.0.0.1'), 'the attempt was of the minute before')
})

t.test('six hundred attempts of all clients are delayed at a time', async (t) => {
  const { delays, failedLogins, fail } = makeFailedLogins()
  for (let i = 0; i < 100; i++) await fail(`10.0.3.${i}`, 1)
  const reserved = Array.from({ length: 601 }, (_, i) => failedLogins.reserve(`10.1.${i >> 8}.${i & 255}`))
  t.equal(delays.length, 600)
  t.equal(await reserved[600], undefined)
  for (const end of delays) end()
  await Promise.all(reserved)
})
