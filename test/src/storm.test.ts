import t from 'tap'
import { checkStorm } from './fixtures/storm-run.js'

t.setTimeout(900_000)

const seed = 20_261_121
const kinds = 11

t.test('a storm of faults loses nothing that was acknowledged, and nothing happens twice', async (t) => {
  const counts = await checkStorm(t, ['--seed', `${seed}`, '--events', '8000', '--faults', '60'])
  t.equal(counts.filter((count) => count > 0).length, kinds, 'each kind of fault has happened')
})
