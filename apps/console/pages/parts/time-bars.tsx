import type { Overview } from '@automation/client'
import { useLocation } from 'preact-iso'
import { type RecentSpan, spans } from '../logic/filters.js'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'
import { Bars } from './bars.js'
import { When } from './when.js'

/** The counts of a span. Screens share them: the server counts once. */
export function useOverview(span: RecentSpan) {
  const { ms, slices } = spans[span]
  return useQuery<Overview>({
    key: ['overview', span],
    read: () => api().overview({ from: new Date(Date.now() - ms).toISOString(), slices }),
    pollMs: 30_000,
  })
}

interface Props {
  screen: 'events' | 'executions'
  span: RecentSpan
  /** The filters of the screen, which stay when a bar is opened. */
  query: Record<string, string | undefined>
}

/** Events or runs by time, above their list. A bar leads to what came until its end. */
export function TimeBars({ screen, span, query }: Props) {
  const { route } = useLocation()
  const { data, error } = useOverview(span)
  if (error && !data) return null
  if (data === undefined) return <div class="bars pending" aria-hidden="true" />
  const { slices, to, countedFrom, from } = data
  const hrefOf = (index: number) => linkTo(screen, { ...query, id: '', to: slices[index + 1]?.from ?? to })
  const shared = { hrefOf, open: (href: string) => route(href) }
  return (
    <>
      {screen === 'events' ? (
        <Bars
          {...shared}
          label={`All events, ${spans[span].label.toLowerCase()}`}
          goodWord="events"
          bars={slices.map((slice) => ({ from: slice.from, good: slice.events, bad: 0 }))}
        />
      ) : (
        <Bars
          {...shared}
          {...barsOfRuns(data)}
          label={`All executions, ${spans[span].label.toLowerCase()}`}
        />
      )}
      <CountedFrom {...{ from, countedFrom }} />
    </>
  )
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

export function barsOfRuns({ slices }: Overview) {
  return {
    goodWord: 'not failed',
    badWord: 'failed',
    bars: slices.map(({ from, succeeded, unfinished, cancelled, failed }) => ({
      from,
      good: succeeded + unfinished + cancelled,
      bad: failed,
    })),
  }
}
