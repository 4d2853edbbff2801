import type { ComponentChildren } from 'preact'
import { readSpan, spans } from '../logic/filters.js'
import { useFilters } from '../state/use-filters.js'
import { Empty } from './states.js'

interface Props {
  /** What the list has, such as `events`. */
  what: string
  /** The filters of the list in the address, beside its span. */
  filters: readonly string[]
  /** What would fill it. */
  children: ComponentChildren
}

/** Nothing fits the filter, or nothing came in this time: each has its own way out. */
export function NoRows({ what, filters, children }: Props) {
  const { query, set } = useFilters()
  const { last } = query
  const showAll = () => set({ ...Object.fromEntries(filters.map((name) => [name, ''])), last: '30d' })
  if (filters.some((name) => Boolean(query[name])))
    return (
      <Empty title={`No ${what} match the filter`}>
        <button type="button" onClick={showAll}>
          Show all {what} of the last 30 days
        </button>
      </Empty>
    )
  return (
    <Empty title={`No ${what} in the ${spans[readSpan(last)].label.toLowerCase()}`}>
      {children}
      {last !== '30d' && (
        <button type="button" onClick={showAll}>
          Show the last 30 days
        </button>
      )}
    </Empty>
  )
}
