import t from 'tap'
import { checkStorm } from './fixtures/storm-run.js'

t.setTimeout(900_000)

/** Lost 44 of its 5,000 acknowledged events when transactions and acceptances shared connections. */
const seed = 31

t.test('lines that go mute in the middle of statements lose nothing that was acknowledged', async (t) => {
  const size = ['--events', '5000', '--faults', '20']
  const counts = await checkStorm(t, ['--seed', `${seed}`, ...size, '--only', 'mute line'])
  t.strictSame(counts, [20])
})
