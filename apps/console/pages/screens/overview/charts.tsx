import type { Overview } from '@automation/client'
import { useState } from 'preact/hooks'
import { formatCount } from '../../logic/count-words.js'
import { formatDuration, formatStart } from '../../logic/format-time.js'
import { Chip } from '../../parts/chip.js'
import { FoldedTable } from '../../parts/folded-table.js'
import { findTime } from '../../parts/time-bars.js'
import type { Slices } from '../../parts/use-brush.js'
import { now } from '../../parts/when.js'
import { zone } from '../../state/preferences.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { Trend } from './trend.js'

type Slice = Overview['slices'][number]

/** How much of it failed, and how long it took, by time. A drag over one of them chooses the time of everything below. */
export function Charts({ overview }: { overview: Overview }) {
  const { query, set } = useFilters()
  const [pointed, point] = useState<number>()
  const { slices, totals } = overview
  const at = (index: number) => {
    const slice = slices[index]
    return slice ? formatStart(slice.from, zone.value, now.value) : ''
  }
  const choose = ({ first, last }: Slices) => set(findTime(overview, first, last))
  const chosen = findChosen(overview, query)
  const shown = slices[pointed ?? -1]
  const time = pointed === undefined ? '' : `${at(pointed)}: `
  const shared = { at, point, chosen, choose }
  return (
    <section class="charts" aria-label="By time">
      <Trend
        {...shared}
        label="Share of failures"
        values={slices.map(shareOf)}
        least={0.04}
        tone="bad"
        write={writeShare}
        readout={time + sayShare(shown ?? totals)}
      />
      <Trend
        {...shared}
        label="Duration, 95th percentile"
        values={slices.map(({ p95Ms }) => p95Ms)}
        least={20}
        tone="good"
        write={writeDuration}
        readout={time + sayDuration(shown ?? totals)}
      />
      <div class="row chart-end">
        {chosen ? (
          <Chip remove={{ label: 'Show the whole time', run: () => set({ from: '', to: '' }) }}>
            {at(chosen.first)} – {at(chosen.last + 1) || 'now'}
          </Chip>
        ) : (
          <span class="quiet">Drag over a chart to choose a time.</span>
        )}
        <SlicesTable overview={overview} at={at} />
      </div>
    </section>
  )
}

function SlicesTable({ overview, at }: { overview: Overview; at: (index: number) => string }) {
  const { query } = useFilters()
  const rows = overview.slices.flatMap((slice, index) => {
    if (slice.events + countOf(slice) === 0) return []
    const counts = [slice.events, countOf(slice), slice.failed].map((count) => formatCount(count))
    return [
      {
        key: slice.from,
        head: <a href={linkTo('overview', { ...query, ...findTime(overview, index) })}>{at(index)}</a>,
        cells: [...counts, slice.p95Ms === null ? '' : formatDuration(slice.p95Ms)],
      },
    ]
  })
  return (
    <FoldedTable
      summary="As a table"
      label="Events and executions by time"
      columns={['From', 'Events', 'Executions', 'Failed', 'p95']}
      rows={rows}
    />
  )
}

type Counts = Pick<Slice, 'succeeded' | 'failed' | 'cancelled' | 'unfinished'>

function countOf({ succeeded, failed, cancelled, unfinished }: Counts): number {
  return succeeded + failed + cancelled + unfinished
}

function shareOf(counts: Counts): number | null {
  const all = countOf(counts)
  return all === 0 ? null : counts.failed / all
}

function sayShare(counts: Counts): string {
  const all = countOf(counts)
  if (all === 0) return 'no executions'
  return `${writeShare(counts.failed / all)}, ${formatCount(counts.failed)} of ${formatCount(all)}`
}

function sayDuration({ p95Ms }: Pick<Slice, 'p95Ms'>): string {
  return p95Ms === null ? 'nothing finished' : formatDuration(p95Ms)
}

/** `0.4 %`, `12 %` */
function writeShare(share: number): string {
  const percent = share * 100
  return `${percent === 0 || percent >= 10 ? Math.round(percent) : formatCount(Number(percent.toFixed(1)))} %`
}

function writeDuration(ms: number): string {
  return ms === 0 ? '0' : formatDuration(ms)
}

/** The slices of the time that the address has. */
function findChosen(
  { from, to, slices }: Overview,
  query: Record<string, string | undefined>,
): Slices | undefined {
  if (query.from === undefined && query.to === undefined) return undefined
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  const sliceMs = (end - begin) / slices.length
  const indexOf = (iso: string | undefined, otherwise: number) => (Date.parse(iso ?? '') || otherwise) - begin
  const first = Math.round(indexOf(query.from, begin) / sliceMs)
  const last = Math.round(indexOf(query.to, end) / sliceMs) - 1
  if (last < 0 || first >= slices.length) return undefined
  return { first: Math.max(0, first), last: Math.min(slices.length - 1, Math.max(first, last)) }
}
