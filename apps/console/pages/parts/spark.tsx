import type { RuleOverview } from '@automation/client'
import { formatCount } from '../logic/count-words.js'

const height = 20
const gap = 0.2

/** Runs by time, as high as a line of text. */
export function Spark({ runs, failed }: Pick<RuleOverview, 'runs' | 'failed'>) {
  const most = Math.max(1, ...runs)
  // What is there is seen, however few it is of.
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * height))
  return (
    <svg
      class="spark"
      role="img"
      aria-label={say(sum(runs), sum(failed))}
      viewBox={`0 0 ${runs.length} ${height}`}
      preserveAspectRatio="none"
    >
      {runs.map((count, index) => {
        const bad = scale(failed[index] ?? 0)
        const whole = Math.max(scale(count), bad)
        const shared = { x: index + gap / 2, width: 1 - gap }
        return (
          <g key={index}>
            <title>{say(count, failed[index] ?? 0)}</title>
            <rect x={index} width="1" y="0" height={height} class="bar-space" />
            <rect {...shared} y={height - whole + bad} height={whole - bad} class="bar-good" />
            <rect {...shared} y={height - whole} height={bad} class="bar-bad" />
          </g>
        )
      })}
    </svg>
  )
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

function say(runs: number, failed: number): string {
  return `${formatCount(runs)} ${runs === 1 ? 'execution' : 'executions'}, ${formatCount(failed)} failed`
}
