import t from 'tap'
import { chooseMeasurements } from '../src/measurements.js'

const scenarios = [
  { name: 'sync', connections: [1, 128] },
  { name: 'async', connections: [128] },
]
const choose = (only: string) => chooseMeasurements(scenarios, only).map(({ label }) => label)

t.test('a text selects the labels that contain it', async (t) => {
  t.same(choose(''), ['sync @1', 'sync @128', 'async @128'])
  t.same(choose('@128'), ['sync @128', 'async @128'])
})

t.test('a complete label or name selects nothing else', async (t) => {
  t.same(choose('sync @1'), ['sync @1'])
  t.same(choose('sync @128'), ['sync @128'])
  t.same(choose('sync'), ['sync @1', 'sync @128'])
})

t.test('a text in no label is an error', async (t) => {
  t.throws(() => choose('batches'), { message: '--only batches is in no label' })
})
