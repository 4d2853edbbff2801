import t from 'tap'
import { limitFailures } from '../src/limit-failures.js'

/** The test moves the clock. */
function makeLimit() {
  const clock = { now: 0 }
  return { clock, failures: limitFailures(() => clock.now) }
}

t.test('after ten failures an address must wait for the rest of a minute, and others need not', async (t) => {
  const { clock, failures } = makeLimit()
  for (let i = 0; i < 9; i++) failures.note('a')
  clock.now = 10_000
  t.equal(failures.waitSeconds('a'), 0)
  failures.note('a')
  t.equal(failures.waitSeconds('a'), 50)
  t.equal(failures.waitSeconds('b'), 0)
  clock.now = 60_000
  t.equal(failures.waitSeconds('a'), 0)
  failures.note('a')
  t.equal(failures.waitSeconds('a'), 0, 'and begins anew')
})

t.test('beyond a thousand addresses the oldest is forgotten', async (t) => {
  const { failures } = makeLimit()
  for (const address of ['first', 'second']) for (let i = 0; i < 10; i++) failures.note(address)
  for (let i = 0; i < 999; i++) failures.note(`${i}`)
  t.equal(failures.waitSeconds('first'), 0)
  t.equal(failures.waitSeconds('second'), 60)
})
