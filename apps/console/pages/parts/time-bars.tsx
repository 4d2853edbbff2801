import type { Overview } from '@automation/client'
import { useLocation } from 'preact-iso'
import { spans } from '../logic/filters.js'
import { formatTime } from '../logic/format-time.js'
import { rangeOfSlices, readShownRange } from '../logic/time-range.js'
import { zone } from '../state/preferences.js'
import { api, may } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'
import { type Bar, Bars } from './bars.js'
import { now, When } from './when.js'

/** The time of an address; see readShownRange. */
interface TimeQuery {
  last?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

type CountedFilter = Omit<
  NonNullable<Parameters<ReturnType<typeof api>['overview']>[0]>,
  'from' | 'to' | 'slices'
>

/** As many groups of failures as the overview shows. */
export const failuresOfOverview = { failures: 20 }

/** The counts of a time. Screens share those without a filter, which have the failures: the server counts once. */
export function useOverview({ last, from, to }: TimeQuery, filter: CountedFilter = {}) {
  const narrowed = { ...filter, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  const isWhole = Object.keys(narrowed).length === 0
  return useQuery<Overview>({
    // The sidebar shows what was read under the key without a filter.
    key: ['overview', last ?? '24h', ...(isWhole ? [] : [narrowed])],
    read: () => {
      const { counted, slices } = readShownRange({ last, from, to }, '24h', Date.now())
      const iso = (ms: number) => new Date(ms).toISOString()
      return api().overview({
        from: iso(counted.from),
        to: iso(counted.to),
        slices,
        ...(isWhole ? failuresOfOverview : filter),
      })
    },
    isRead: may('read counts'),
    pollMs: 30_000,
  })
}

interface Props {
  screen: 'events' | 'executions'
  /** The filters of the screen, which stay when a bar is opened. */
  query: Record<string, string | undefined>
  /** The same filters for the count. */
  filter: CountedFilter
  /** What is counted: of executions, only these states. */
  pick: (overview: Overview) => { bars: Bar[]; goodWord: string; badWord?: string }
}

/** Events or executions by time, above their list and narrowed like it. A bar leads to its own time, and a drag to that of several. */
export function TimeBars({ screen, query, filter, pick }: Props) {
  const { route } = useLocation()
  const { data, error } = useOverview(query, filter)
  if ((error && !data) || !may('read counts')) return null
  if (data === undefined) return <div class="bars pending" aria-hidden="true" />
  const { countedFrom, from } = data
  return (
    <>
      <Bars
        {...pick(data)}
        label={`${screen === 'events' ? 'Events' : 'Executions'}, ${nameTime(query)}`}
        {...(query.to !== undefined && { until: formatTime(query.to, zone.value, now.value) })}
        hrefOf={(first, last) =>
          linkTo(screen, { ...query, id: '', last: '', ...findTime(data, first, last) })
        }
        open={(href) => route(href)}
      />
      <CountedFrom {...{ from, countedFrom }} />
    </>
  )
}

/** The time of bars next to each other, as an address has it: the last one of a span goes on. */
export function findTime({ from, to, slices }: Overview, first: number, last = first) {
  const counted = { from: Date.parse(from), to: Date.parse(to) }
  const range = rangeOfSlices({ counted, slices: slices.length }, first, last)
  return Date.parse(range.to) > Date.now() ? { from: range.from, to: '' } : range
}

function nameTime({ last, from, to }: TimeQuery): string {
  if (from !== undefined || to !== undefined) return 'in the chosen time'
  return spans[last as keyof typeof spans]?.label.toLowerCase() ?? spans['24h'].label.toLowerCase()
}

/** Says where bars begin that could not count everything. */
export function CountedFrom({ from, countedFrom }: Pick<Overview, 'from' | 'countedFrom'>) {
  if (countedFrom <= from) return null
  return (
    <p class="notice">
      Too many to count: the bars start at <When at={countedFrom} />.
    </p>
  )
}

export function barsOfEvents({ slices }: Overview) {
  return { goodWord: 'events', bars: slices.map(({ from, events }) => ({ from, good: events, bad: 0 })) }
}

/** @param status of the filter: one state, several with commas, or '' for all */
export function barsOfExecutions({ slices }: Overview, status = '') {
  const has = (state: string) => status === '' || status.split(',').includes(state)
  const bars = slices.map(({ from, succeeded, unfinished, cancelled, failed }) => ({
    from,
    good:
      (has('succeeded') ? succeeded : 0) +
      (has('waiting') ? unfinished : 0) +
      (has('cancelled') ? cancelled : 0),
    bad: has('failed') ? failed : 0,
  }))
  if (status === '') return { goodWord: 'not failed', badWord: 'failed', bars }
  if (status === 'failed') return { goodWord: '', badWord: 'failed', bars }
  return { goodWord: status.includes(',') ? 'not finished' : status, bars }
}
