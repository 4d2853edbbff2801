import t from 'tap'
import { checkStorm } from './fixtures/storm-run.js'

// Each commit has its own storm (scripts/tap.mjs). `npm run storm -- --seed` repeats it.
const { TEST_SEED: seed = '20261121', TEST_LONG, TEST_LARGE } = process.env
const kinds = 12
/** The smallest one has each kind of fault once. */
const small = ['--events', '1200', '--faults', `${kinds}`, '--hostile', '20']
const longest = ['--longest', '500']
const long = ['--events', '6000', '--faults', '60', '--hostile', '20', ...longest]
const large = ['--events', '20000', '--faults', '150', ...longest]
const size = TEST_LARGE ? large : TEST_LONG ? long : small

t.test('a storm of faults loses nothing that was acknowledged, and nothing happens twice', async (t) => {
  const { counts, output } = await checkStorm(t, ['--seed', seed, ...size])
  t.match(output, /hostile requests [1-9]\d*, events [1-9]/, 'one workspace has attacked meanwhile')
  t.match(output, /, leaves exchanged [1-9]/, 'weeks have turned meanwhile')
  t.equal(counts.filter((count) => count > 0).length, kinds, 'each kind of fault has happened')
})
