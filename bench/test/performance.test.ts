import t from 'tap'
import { createExactAim } from '../src/aims.js'
import { describeNoise } from '../src/machine/noise.js'
import { findFileSystem } from '../src/machine/storage.js'
import { modelCosts, needsOf, twoDigits } from '../src/performance/cost-model.js'
import { describeRun } from '../src/performance/describe-run.js'
import { drawPerformance } from '../src/performance/draw-performance.js'
import type { Performance, Run } from '../src/performance/performance.js'
import { fillMarks } from '../src/performance/write-performance.js'

const quiet = { loadAverage: 0.2, stealShare: 0.001, othersShare: 0.03 }
const run: Run = {
  command: 'npm run bench -- sustained',
  at: '2026-11-23T10:00:00.000Z',
  node: 'v20.20.2',
  machine: '2 × CPU',
  storage: { fileSystem: 'ext4', fsyncP50Ms: 0.4, fsyncP99Ms: 2 },
  noise: quiet,
  seconds: 300,
  rounds: 1,
  results: [],
  aims: [],
}
const waits = { count: 9, p50Ms: 8, p95Ms: 15, p99Ms: 20, p999Ms: 40, maxMs: 90 }
const sustained = {
  mode: 'sync',
  line: 'sustained',
  share: 0.8,
  round: 1,
  seconds: 300,
  workspaces: 50,
  duePerSecond: 2_345,
  donePerSecond: 2_345,
  waits,
  windows: [waits],
  latestMs: 2,
  failures: 0,
  isSustained: true,
  cpuMicrosPerEvent: { api: 150, worker: 100, redis: 30, postgres: 120 },
  postgres: { checkpoints: 1, autovacuums: 9, walMegabytes: 700 },
}
const performance: Performance = { sustained: { ...run, results: [sustained] } }

t.test('a run has its rounds, its disk and the other load of the machine', async (t) => {
  t.equal(
    describeRun(run),
    '2026-11-23, Node v20.20.2, 2 × CPU, 1 round of 300 s; ext4, fsync 0.40 ms (p99 2.00); load average 0.2 before, steal 0.1 %, other processes 3.0 %.',
  )
})

t.test('an aim of 0 has its place in the picture', async (t) => {
  const aims = [0, 2].map((reached) => createExactAim({ title: 'failures', reached, atMost: 0, digits: 0 }))
  const picture = drawPerformance({ sustained: { ...run, results: [sustained], aims } })
  t.match(picture, 'failures')
  t.notMatch(picture, 'NaN')
})

t.test('the figures of a busy machine are marked', async (t) => {
  t.equal(describeNoise(quiet, 2), undefined)
  t.equal(
    describeNoise({ ...quiet, loadAverage: 1.2 }, 2),
    undefined,
    'what ended before the start, as the share of others shows',
  )
  t.equal(
    describeNoise({ loadAverage: 1.2, stealShare: null, othersShare: null }, 2),
    'load average 1.2 on 2 cores before the start',
  )
  t.equal(describeNoise({ ...quiet, stealShare: 0.03 }, 2), '3.0 % steal')
  t.match(describeNoise({ ...quiet, othersShare: 0.4 }, 2), /^40 % of the CPU/)
  t.match(describeRun({ ...run, noise: { ...quiet, stealShare: 0.03 } }), /Busy machine \(3\.0 % steal\)/)
  t.equal(describeNoise({ loadAverage: 0, stealShare: null, othersShare: null }, 2), undefined)
})

t.test('the file system is that of the longest mount point above a directory', async (t) => {
  const mounts = '/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmpfiles xfs rw 0 0\n'
  t.equal(findFileSystem(mounts, '/tmp/wt'), 'tmpfs')
  t.equal(findFileSystem(mounts, '/tmpfiles'), 'xfs')
  t.equal(findFileSystem(mounts, '/home'), 'ext4')
  t.equal(findFileSystem('', '/home'), null)
})

t.test('the model reaches four times what was sustained, with two digits', async (t) => {
  const rows = modelCosts(performance)
  t.same(
    rows.map(([, times, pace]) => [times, pace]),
    [
      ['1', '2,300'],
      ['2', '4,700'],
      ['4', '9,400'],
    ],
  )
  t.same(modelCosts({ sustained: { ...run, results: [{ ...sustained, isSustained: false }] } }), [])
  t.equal(twoDigits(23_217_247), 23_000_000)
})

t.test('a cell has one Redis, so Redis decides how many cells there are', async (t) => {
  const cpu = { api: 150, worker: 100, redis: 30, postgres: 120 }
  t.match(needsOf(cpu, 20_000), { cells: 1, apis: 5, workers: 3, postgresCores: 4 })
  t.match(needsOf(cpu, 50_000), { cells: 3 })
  t.match(
    needsOf({ api: 1, redis: 100 }, 50_000),
    { cells: 8, apis: 8, workers: 8 },
    'each cell has one of each',
  )
})

t.test('tables are written between their marks, and only there', async (t) => {
  const page = [
    'before',
    '<!-- headlines: made by npm run bench, not by hand -->',
    'old',
    '<!-- end of headlines -->',
    'between',
    '<!-- figures: made by npm run bench, not by hand -->',
    '<!-- end of figures -->',
    'after',
  ].join('\n')
  const filled = fillMarks(page, performance, 'page.md')
  t.match(filled, /^before\n<!-- headlines/)
  t.match(filled, /\nbetween\n/)
  t.match(filled, /after$/)
  t.notMatch(filled, /\nold\n/)
  t.match(filled, '| sustained: sync, 50 workspaces, 80 % of capacity for 300 s | 2,345 | 8 / 20 | 400 |')
  t.match(filled, '`npm run bench -- sustained`')
  const brake = { brake: { ...run, command: 'npm run bench -- brake', text: 'call ms' } }
  t.match(fillMarks(page, brake, 'page.md'), '```\ncall ms\n```', 'a report as it was printed')
  t.equal(fillMarks(filled, performance, 'page.md'), filled, 'again, with the same result')
  t.throws(() => fillMarks('no marks', performance, 'page.md'), { message: /page\.md has no marks/ })
})
