import t from 'tap'
import { checkStorm } from './fixtures/storm-run.js'

// Each commit has its own storm (scripts/tap.mjs). `npm run storm -- --seed` repeats it.
const seed = process.env.TEST_SEED ?? '20261121'
const size = process.env.TEST_LONG
  ? ['--events', '20000', '--faults', '150']
  : ['--events', '6000', '--faults', '60', '--hostile', '20']
const kinds = 11

t.test('a storm of faults loses nothing that was acknowledged, and nothing happens twice', async (t) => {
  const { counts, output } = await checkStorm(t, ['--seed', seed, ...size])
  t.match(output, /hostile requests [1-9]\d*, events [1-9]/, 'one workspace has attacked meanwhile')
  t.equal(counts.filter((count) => count > 0).length, kinds, 'each kind of fault has happened')
})
