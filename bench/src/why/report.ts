import { type Aim, createAim } from '../aims.js'
import { alignColumns } from '../report.js'
import { median, type Waits } from '../statistics.js'

/** One page of `why`, asked for again and again. */
export interface Explained {
  label: string
  /** Rules that were considered for the event. */
  rules: number
  /** Rules on the page. */
  limit: number
  waits: Waits
  /** CPU of the API's event loop for one question (ms). Rules are evaluated in another process. */
  loopMs: number
}

/** What we require of `why`, for as many rules as a workspace may have. */
export function aimsOf(explained: Explained[]): Aim[] {
  const most = explained.filter(({ rules, limit }) => rules === 1_000 && limit === 20)
  if (most.length === 0) return []
  return [
    createAim({
      title: 'why, 1,000 rules: p95 ms',
      rounds: most.map(({ waits }) => waits.p95Ms),
      atMost: 50,
      digits: 0,
    }),
    createAim({
      title: "why, 1,000 rules: CPU ms of the API's event loop",
      rounds: most.map(({ loopMs }) => loopMs),
      atMost: 10,
      digits: 1,
    }),
  ]
}

export function formatExplained(explained: Explained[]): string {
  if (explained.length === 0) return ''
  const rows = [...new Set(explained.map(({ label }) => label))].map((label) => {
    const rounds = explained.filter((one) => one.label === label)
    const of = (read: (one: Explained) => number) => median(rounds.map(read)).toFixed(1)
    return [
      label,
      of(({ waits }) => waits.p50Ms),
      of(({ waits }) => waits.p95Ms),
      of(({ waits }) => waits.p99Ms),
      of(({ loopMs }) => loopMs),
      `${rounds.reduce((sum, { waits }) => sum + waits.count, 0)}`,
    ]
  })
  return alignColumns([head, ...rows])
}

const head = ['why of an event', 'p50 ms', 'p95 ms', 'p99 ms', 'event loop, CPU ms', 'questions']
