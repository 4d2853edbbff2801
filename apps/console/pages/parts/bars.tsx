import { formatTime } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'
import { Source } from './source.js'
import { now } from './when.js'

export interface Bar {
  from: string
  /** The quiet part, at the bottom. */
  good: number
  /** The part that needs somebody, on top and hatched. */
  bad: number
}

interface Props {
  bars: Bar[]
  label: string
  goodWord: string
  /** undefined: there is only the quiet part. */
  badWord?: string
  /** Where a bar leads. Every link stands in the table, too. */
  hrefOf?: (index: number) => string
  /** Opens what hrefOf names. */
  open?: (href: string) => void
}

const height = 72
const gap = 0.2

/** Counts by time, in a picture, a sentence and a table. */
export function Bars({ bars, label, goodWord, badWord, hrefOf, open }: Props) {
  const most = Math.max(1, ...bars.map(({ good, bad }) => good + bad))
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * height))
  const at = (iso: string | undefined) => (iso ? formatTime(iso, zone.value, now.value) : '')
  const say = ({ good, bad }: Pick<Bar, 'good' | 'bad'>) =>
    [`${write(good)} ${goodWord}`, ...(badWord === undefined ? [] : [`${write(bad)} ${badWord}`])].join(', ')
  const busiest = bars.reduce<Bar | undefined>(
    (best, bar) => (best === undefined || bar.good + bar.bad > best.good + best.bad ? bar : best),
    undefined,
  )
  return (
    <figure class="bars">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table below has a link for each bar */}
      <svg
        viewBox={`0 0 ${bars.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${say(sum(bars))}`}
        class={open ? 'opens' : ''}
        onClick={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect()
          const index = Math.floor(((clientX - left) / width) * bars.length)
          if (hrefOf && open && bars[index]) open(hrefOf(index))
        }}
      >
        <defs>
          <pattern id="hatch" width="0.3" height="5" patternUnits="userSpaceOnUse">
            <rect width="0.3" height="5" class="bar-bad" />
            <rect width="0.3" height="1.5" class="bar-hatch" />
          </pattern>
        </defs>
        {bars.map((bar, index) => (
          <g key={bar.from}>
            <title>{`${at(bar.from)}: ${say(bar)}`}</title>
            <rect x={index} y="0" width="1" height={height} class="bar-space" />
            <rect
              x={index + gap / 2}
              width={1 - gap}
              y={height - scale(bar.good)}
              height={scale(bar.good)}
              class="bar-good"
            />
            <rect
              x={index + gap / 2}
              width={1 - gap}
              y={height - scale(bar.good) - scale(bar.bad)}
              height={scale(bar.bad)}
              fill="url(#hatch)"
            />
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{at(bars[0]?.from)}</span>
        <span>
          {say(sum(bars))}
          {busiest && busiest.good + busiest.bad > 0 && `; most ${write(most)} at ${at(busiest.from)}`}
        </span>
        <span>now</span>
      </figcaption>
      <BarsTable {...{ bars, label, goodWord, badWord, hrefOf, at }} />
    </figure>
  )
}

function BarsTable({
  bars,
  label,
  goodWord,
  badWord,
  hrefOf,
  at,
}: Pick<Props, 'bars' | 'label' | 'goodWord'> & {
  badWord: string | undefined
  hrefOf: Props['hrefOf'] | undefined
  at: (iso: string) => string
}) {
  const shown = bars.flatMap((bar, index) => (bar.good + bar.bad > 0 ? [{ bar, index }] : []))
  return (
    <details>
      <summary>As a table</summary>
      <Source label={label} kind="scroll">
        {shown.length === 0 && <p class="quiet">Nothing in this time.</p>}
        {shown.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col" class="number">
                  {goodWord}
                </th>
                {badWord !== undefined && (
                  <th scope="col" class="number">
                    {badWord}
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {shown.map(({ bar, index }) => (
                <tr key={bar.from}>
                  <td>{hrefOf ? <a href={hrefOf(index)}>{at(bar.from)}</a> : at(bar.from)}</td>
                  <td class="number">{write(bar.good)}</td>
                  {badWord !== undefined && <td class="number">{write(bar.bad)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Source>
    </details>
  )
}

function sum(bars: readonly Bar[]): Pick<Bar, 'good' | 'bad'> {
  return bars.reduce((total, bar) => ({ good: total.good + bar.good, bad: total.bad + bar.bad }), {
    good: 0,
    bad: 0,
  })
}

function write(count: number): string {
  return count.toLocaleString('en-US')
}
