import { findNiceEnd, findQuarters } from '../../logic/nice-scale.js'
import { type Slices, useBrush } from '../../parts/use-brush.js'

interface Props {
  /** What it shows, such as "Share of failures". */
  label: string
  /** null: there is nothing to show in this slice. */
  values: readonly (number | null)[]
  /** The axis ends there at least. */
  least: number
  /** Red is only what is broken. */
  tone: 'bad' | 'good'
  /** A value in words. */
  write: (value: number) => string
  /** When a slice begins, in words. */
  at: (index: number) => string
  /** What stands beside the label: all of it, or what the pointer is at. */
  readout: string
  point: (index: number | undefined) => void
  /** What is chosen by the brush. */
  chosen?: Slices | undefined
  choose: (slices: Slices) => void
}

const height = 96
const gap = 0.16

/** A value by time, with axes. A drag over it chooses a time, a click one slice; the table beside it does the same by keyboard. */
export function Trend(props: Props) {
  const { label, values, least, tone, write, at, readout, point, chosen, choose } = props
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const end = findNiceEnd(most, least)
  const brush = useBrush({ count: values.length, choose, point })
  const marked = brush.marked ?? chosen
  const scale = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / end) * height))
  const quarters = findQuarters(values.length)
  return (
    <figure class="trend">
      <figcaption>
        <h2>{label}</h2>
        <span>{readout}</span>
      </figcaption>
      <div class="plot">
        <div class="axis" aria-hidden="true">
          {[end, end / 2, 0].map((value) => (
            <span key={value}>{write(value)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${values.length} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${label}: ${readout}; at most ${write(most)}`}
          {...brush.handlers}
        >
          {[0, height / 2].map((y) => (
            <path key={y} class="grid-line" d={`M0,${y}H${values.length}`} />
          ))}
          {quarters.slice(1).map((x) => (
            <path key={x} class="grid-line" d={`M${x},0V${height}`} />
          ))}
          {marked && (
            <rect
              class="bar-chosen"
              x={marked.first}
              width={marked.last - marked.first + 1}
              y="0"
              height={height}
            />
          )}
          {values.map(
            (value, index) =>
              value !== null && (
                <rect
                  key={index}
                  class={tone === 'bad' ? 'bar-bad' : 'bar-good'}
                  x={index + gap / 2}
                  width={1 - gap}
                  y={height - scale(value)}
                  height={scale(value)}
                />
              ),
          )}
        </svg>
        <div class="times" aria-hidden="true">
          {quarters.map(at).map((text, index, all) => (
            <span key={text}>{withoutDay(text, all[index - 1])}</span>
          ))}
          <span class="end-of-time">now</span>
        </div>
      </div>
    </figure>
  )
}

/** `Nov 27, 16:00` after `Nov 27, 10:00` is `16:00`. */
function withoutDay(text: string, before = ''): string {
  const [day = '', clock = ''] = text.split(', ')
  return clock !== '' && before.startsWith(`${day}, `) ? clock : text
}
