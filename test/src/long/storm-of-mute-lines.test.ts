import t from 'tap'
import { checkStorm } from '../fixtures/storm-run.js'

/** Lost 44 of its 5,000 acknowledged events when transactions and acceptances shared connections. */
const seed = '31'
const [events, faults] = process.env.TEST_LARGE ? [5_000, 20] : [1_200, 6]

t.test('lines that go mute in the middle of statements lose nothing that was acknowledged', async (t) => {
  const size = ['--events', `${events}`, '--faults', `${faults}`]
  const alone = ['--hostile', '0', '--only', 'mute line']
  const { counts } = await checkStorm(t, ['--seed', seed, ...size, ...alone])
  t.strictSame(counts, [faults])
})
