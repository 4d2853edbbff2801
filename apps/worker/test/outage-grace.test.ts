import t from 'tap'
import { OutageGrace } from '../src/repair/outage-grace.js'

t.test('what fell due while Postgres was unavailable is left to its holders for as long as a lease', (t) => {
  let at = 0
  const grace = new OutageGrace(() => at)
  const epoch = 1_000_000
  const hearAt = (ms: number) => {
    at = ms
    return grace.hear(epoch + ms)
  }
  const anything = Number.POSITIVE_INFINITY
  for (const ms of [2_000, 4_000, 11_000]) t.equal(hearAt(ms), anything, 'no outage is as short as a lease')
  t.equal(hearAt(31_000), epoch + 11_000, 'what was due before the outage may be restored')
  t.equal(hearAt(33_000), epoch + 11_000)
  t.equal(hearAt(38_900), epoch + 11_000)
  t.equal(hearAt(39_000), anything)
  t.end()
})
