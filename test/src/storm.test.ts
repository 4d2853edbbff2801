import t from 'tap'
import { runStorm } from './storm/storm.js'

t.setTimeout(300_000)

t.test('a storm of faults loses nothing that was acknowledged, and nothing happens twice', async (t) => {
  const seed = 20_261_121
  t.comment(`seed ${seed}`)
  const report = await runStorm({ seed, events: 3_000, faults: 40, tell: (line) => t.comment(line) })
  t.strictSame(report.violations.slice(0, 20), [], 'no violation')
  t.not(report.drainMs, undefined, 'every event and execution came to its end')
  for (const [kind, count] of report.faults) t.ok(count > 0, `it happened: ${kind}`)
  t.ok(report.acknowledged >= 3_000, 'its events were acknowledged')
  t.ok(report.calls.unknown > 0, 'and some callers were left without an answer')
})
