import { countOf, formatCount } from '../logic/count-words.js'
import { formatStart } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'
import { FoldedTable } from './folded-table.js'
import { type Slices, useBrush } from './use-brush.js'
import { now } from './when.js'

export interface Bar {
  from: string
  /** The quiet part, at the bottom. */
  good: number
  /** The part that needs somebody, on top. */
  bad: number
}

interface Line {
  word: string
  counts: readonly number[]
}

interface Props {
  bars: Bar[]
  label: string
  /** '': there is only the other part. */
  goodWord: string
  /** undefined: there is only the quiet part. */
  badWord?: string
  /** Other counts of the same slices, drawn as a line over the bars. */
  line?: Line | undefined
  /** Where the last bar ends. */
  until?: string
  /** Where a bar leads, or several of them. Every link of one stands in the table, too. */
  hrefOf?: (first: number, last: number) => string
  /** Opens what hrefOf names. */
  open?: (href: string) => void
}

const height = 72
const gap = 0.2

/** Counts by time, in a picture, a sentence and a table. */
export function Bars({ bars, label, goodWord, badWord, line, until = 'now', hrefOf, open }: Props) {
  const choose = hrefOf && open && (({ first, last }: Slices) => open(hrefOf(first, last)))
  const { marked, handlers } = useBrush({ count: bars.length, choose })
  const highest = Math.max(1, ...bars.map(({ good, bad }) => good + bad))
  const most = Math.max(highest, ...(line?.counts ?? []))
  const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * height))
  const at = (iso: string | undefined) => (iso ? formatStart(iso, zone.value, now.value) : '')
  const say = ({ good, bad }: Pick<Bar, 'good' | 'bad'>, other = line?.counts.reduce(add, 0)) =>
    [
      ...(goodWord === '' ? [] : [sayCount(good, goodWord)]),
      ...(badWord === undefined ? [] : [`${formatCount(bad)} ${badWord}`]),
      ...(line === undefined ? [] : [`${formatCount(other ?? 0)} ${line.word}`]),
    ].join(', ')
  const busiest = bars.findIndex(({ good, bad }) => good + bad === highest)
  const span = (index: number) => `${at(bars[index]?.from)} to ${at(bars[index + 1]?.from) || until}`
  return (
    <figure class="bars">
      <svg
        viewBox={`0 0 ${bars.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${say(sum(bars))}`}
        class={open ? 'opens' : ''}
        {...handlers}
      >
        {bars.map((bar, index) => (
          <g key={bar.from}>
            <title>{`${span(index)}: ${say(bar, line?.counts[index])}`}</title>
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
              class="bar-bad"
            />
          </g>
        ))}
        {marked && marked.first !== marked.last && (
          <rect
            x={marked.first}
            width={marked.last - marked.first + 1}
            y="0"
            height={height}
            class="bar-chosen"
          />
        )}
        {line && <path class="bar-line" d={drawSteps(line.counts.map((count) => height - scale(count)))} />}
      </svg>
      <figcaption>
        <span>{at(bars[0]?.from)}</span>
        <span>
          {say(sum(bars))}
          {busiest >= 0 && `; most ${formatCount(highest)}, ${span(busiest)}`}
        </span>
        <span>{until}</span>
      </figcaption>
      <BarsTable {...{ bars, label, goodWord, badWord, line, hrefOf, at }} />
    </figure>
  )
}

function BarsTable({
  bars,
  label,
  goodWord,
  badWord,
  line,
  hrefOf,
  at,
}: Pick<Props, 'bars' | 'label' | 'goodWord'> & {
  badWord: string | undefined
  line: Line | undefined
  hrefOf: Props['hrefOf'] | undefined
  at: (iso: string) => string
}) {
  const pick = <Value,>(good: Value, bad: Value, others: Value) => [
    ...(goodWord === '' ? [] : [good]),
    ...(badWord === undefined ? [] : [bad]),
    ...(line === undefined ? [] : [others]),
  ]
  const rows = bars.flatMap((bar, index) => {
    const others = line?.counts[index] ?? 0
    if (bar.good + bar.bad + others === 0) return []
    const head = hrefOf ? <a href={hrefOf(index, index)}>{at(bar.from)}</a> : at(bar.from)
    return [
      { key: bar.from, head, cells: pick(formatCount(bar.good), formatCount(bar.bad), formatCount(others)) },
    ]
  })
  return (
    <FoldedTable
      summary="As a table"
      columns={['From', ...pick(goodWord, badWord ?? '', line?.word ?? '')]}
      {...{ label, rows }}
    />
  )
}

/** `1 event` and `2 events`; other words stay as they are. */
function sayCount(count: number, word: string): string {
  return word.endsWith('events') ? countOf(count, word.slice(0, -1)) : `${formatCount(count)} ${word}`
}

function sum(bars: readonly Bar[]): Pick<Bar, 'good' | 'bad'> {
  return bars.reduce((total, bar) => ({ good: total.good + bar.good, bad: total.bad + bar.bad }), {
    good: 0,
    bad: 0,
  })
}

function add(left: number, right: number): number {
  return left + right
}

/** A path that keeps the height of each slice over its width. */
function drawSteps(heights: readonly number[]): string {
  return heights.map((y, index) => `${index === 0 ? 'M' : 'L'}${index},${y}H${index + 1}`).join('')
}
