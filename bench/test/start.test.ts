import t from 'tap'
import { aimsOf, formatStarted, type Started } from '../src/start/report.js'

const started = (label: Started['label'], readyMs: number): Started => ({
  label,
  readyMs,
  readyCpuMs: 700,
  restCpuMs: 900,
  mebibytes: 120,
})
const rounds = [800, 810, 820, 830, 840].map((readyMs) => started('API', readyMs))

t.test('the aims are about each process that was started', async (t) => {
  t.strictSame(
    aimsOf(rounds).map(({ title, reached, verdict }) => [title, reached, verdict]),
    [
      ['API: ms until it is ready', 820, 'met'],
      ['API: MiB at rest', 120, 'missed'],
    ],
  )
  t.strictSame(aimsOf([]), [])
})

t.test('a line has the medians and the number of starts', async (t) => {
  t.match(formatStarted([...rounds, started('worker', 500)]), /API +820 +700 +900 +120 +5\nworker +500/)
  t.equal(formatStarted([]), '')
})
