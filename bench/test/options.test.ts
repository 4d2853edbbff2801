import t from 'tap'
import { choose } from '../src/benchmark.js'
import { formatCommand, readCommand } from '../src/options.js'

const benchmarks = {
  events: { about: '', seconds: 5, rounds: 6, run: async () => ({ tables: [] }) },
  history: { about: '', seconds: 5, rounds: 6, stored: 30_000, run: async () => ({ tables: [] }) },
}
const read = (...args: string[]) => {
  const command = readCommand(args, benchmarks)
  if (command === 'help') throw new Error('It was a command')
  return command
}

t.test('a benchmark has seconds and rounds of its own, unless the command has others', async (t) => {
  t.match(read().options, { seconds: 5, rounds: 6 })
  t.match(read('events', '--seconds', '0.5').options, { seconds: 0.5, rounds: 6 })
  t.equal(
    formatCommand(read('events', '--json', 'a.json')),
    'npm run bench -- events --seconds 5 --rounds 6',
    'the command repeats it, even if its defaults change',
  )
  t.equal(
    formatCommand(read('--rounds', '2', '--only', 'bare route')),
    'npm run bench -- events --seconds 5 --rounds 2 --only "bare route"',
  )
})

t.test('a benchmark of a history stores as many events as the command says', async (t) => {
  t.equal(read('history').options.stored, 30_000)
  t.equal(
    formatCommand(read('history', '--stored', '2000')),
    'npm run bench -- history --seconds 5 --rounds 6 --stored 2000',
  )
  for (const stored of ['0', '999', '2000.5', 'many', ''])
    t.throws(() => read('history', '--stored', stored), { message: /is not a whole number from 1000 on/ })
  t.throws(() => read('events', '--stored', '2000'), {
    message: 'events stores no history: it takes no --stored',
  })
})

t.test('invalid arguments are refused', async (t) => {
  for (const args of [
    ['nothing'],
    ['constructor'],
    ['--rounds', '1.5'],
    ['--seconds', '0'],
    ['events', 'twice'],
  ])
    t.throws(() => read(...args))
})

t.test('a text selects the labels that contain it, and a complete label or name nothing else', async (t) => {
  const labels = ['sync @1', 'sync @128', 'async @128'].map((label) => ({ label }))
  const select = (only: string) => choose(labels, only).map(({ label }) => label)
  t.same(select(''), ['sync @1', 'sync @128', 'async @128'])
  t.same(select('@128'), ['sync @128', 'async @128'])
  t.same(select('sync @1'), ['sync @1'])
  t.same(select('sync'), ['sync @1', 'sync @128'])
  t.throws(() => select('batches'), { message: /^--only batches is in none of: sync @1/ })
})
