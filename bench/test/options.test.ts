import t from 'tap'
import { defaults, formatCommand, optionsOf, readCommand } from '../src/options.js'

t.test('each benchmark has seconds and rounds of its own, unless the command has others', async (t) => {
  const all = readCommand(['all'])
  t.match(optionsOf('events', all), defaults.events)
  t.match(optionsOf('scale', all), defaults.scale)
  t.match(optionsOf('scale', readCommand(['all', '--seconds', '9'])), {
    seconds: 9,
    rounds: defaults.scale.rounds,
  })
  t.ok(defaults.sustained.seconds >= 300, 'five minutes')
})

t.test(
  'benchmarks with aims have enough rounds to decide them, and as many forwards as backwards',
  async (t) => {
    for (const name of [
      'events',
      'ingest',
      'growth',
      'scale',
      'engine',
      'compare',
      'fairness',
      'backtest',
      'why',
    ] as const) {
      t.ok(defaults[name].rounds >= 5, name)
      t.equal(defaults[name].rounds % 2, 0, name)
    }
  },
)

t.test('the command of a run repeats it, whatever the defaults become', async (t) => {
  const repeat = (args: string[]) => formatCommand('events', optionsOf('events', readCommand(args)))
  t.equal(repeat(['all', '--json', 'a.json']), 'npm run bench -- events --seconds 5 --rounds 6')
  t.equal(
    repeat(['events', '--rounds', '2', '--only', 'bare route']),
    'npm run bench -- events --seconds 5 --rounds 2 --only "bare route"',
  )
})

t.test('several files get tables', async (t) => {
  t.same(readCommand(['render', '--json', 'a', '--markdown', 'b', '--markdown', 'c']).markdown, ['b', 'c'])
})

t.test('invalid arguments are refused', async (t) => {
  for (const args of [['nothing'], ['events', '--rounds', '1.5'], ['events', '--seconds', '0'], ['render']])
    t.throws(() => readCommand(args))
})
