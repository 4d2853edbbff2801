import { formatTime } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'
import { now } from './when.js'

export interface Bar {
  from: string
  /** The quiet part, at the bottom. */
  good: number
  /** The part that needs somebody, on top and hatched. */
  bad: number
}

const height = 72
const gap = 0.2

/** Counts by time. What it shows stands below it as a table, too. */
export function Bars({
  bars,
  label,
  goodWord,
  badWord,
}: {
  bars: Bar[]
  label: string
  goodWord: string
  badWord: string
}) {
  const most = Math.max(1, ...bars.map(({ good, bad }) => good + bad))
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * height))
  const sum = (part: 'good' | 'bad') => bars.reduce((total, bar) => total + bar[part], 0)
  const at = (iso: string | undefined) => (iso ? formatTime(iso, zone.value, now.value) : '')
  return (
    <figure class="bars">
      <svg
        viewBox={`0 0 ${bars.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${sum('good')} ${goodWord}, ${sum('bad')} ${badWord}`}
      >
        <defs>
          <pattern id="hatch" width="0.3" height="5" patternUnits="userSpaceOnUse">
            <rect width="0.3" height="5" class="bar-bad" />
            <rect width="0.3" height="1.5" class="bar-hatch" />
          </pattern>
        </defs>
        {bars.map(({ from, good, bad }, index) => (
          <g key={from}>
            <title>{`${at(from)}: ${good} ${goodWord}, ${bad} ${badWord}`}</title>
            <rect x={index} y="0" width="1" height={height} class="bar-space" />
            <rect
              x={index + gap / 2}
              width={1 - gap}
              y={height - scale(good)}
              height={scale(good)}
              class="bar-good"
            />
            <rect
              x={index + gap / 2}
              width={1 - gap}
              y={height - scale(good) - scale(bad)}
              height={scale(bad)}
              fill="url(#hatch)"
            />
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{at(bars[0]?.from)}</span>
        <span>at most {most} in one bar</span>
        <span>now</span>
      </figcaption>
      <details>
        <summary>As a table</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={label}>
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col" class="number">
                  {goodWord}
                </th>
                <th scope="col" class="number">
                  {badWord}
                </th>
              </tr>
            </thead>
            <tbody>
              {bars
                .filter(({ good, bad }) => good + bad > 0)
                .map(({ from, good, bad }) => (
                  <tr key={from}>
                    <td>{at(from)}</td>
                    <td class="number">{good}</td>
                    <td class="number">{bad}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}
