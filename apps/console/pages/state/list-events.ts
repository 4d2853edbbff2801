import type { EventSummary } from '@automation/client'
import { given } from '../logic/filters.js'
import { parseSearch } from '../logic/history/parse-search.js'
import { writeRange } from '../logic/time-range.js'
import { api, workspaceId } from './session.js'

const pageSize = 50

interface Wanted {
  /** Of the address; see readShownRange. */
  query: Readonly<Record<string, string | undefined>>
  cursor: string | undefined
}

interface EventRows {
  rows: EventSummary[]
  nextCursor: string | null
}

/** One page of the events that an address names, by their data, too. A search by conditions knows no states and rules: rows of other states are left out here. */
export async function listEvents({ query, cursor }: Wanted): Promise<EventRows> {
  const { type = '', status = '', rule, q = '' } = query
  const page = { limit: pageSize, excerpt: true, ...given({ cursor }) }
  const narrowed = { ...writeRange(query), ...given({ eventType: type }) }
  const parsed = parseSearch(q)
  // The field has said it already. An address may have been written by hand.
  if ('fault' in parsed) return { rows: [], nextCursor: null }
  const { conditions, ...words } = parsed
  if (conditions.length === 0) {
    const { events, nextCursor = null } = await api().events.list({
      ...page,
      ...narrowed,
      ...given({ ...words, status: status as 'done', ruleId: rule }),
    })
    noteFields(events)
    return { rows: events, nextCursor }
  }
  const { events, nextCursor = null } = await api().events.search({
    ...page,
    ...narrowed,
    ...given(words),
    conditions,
  })
  return { rows: events.filter((event) => status === '' || event.status === status), nextCursor }
}

const fieldsOf = new Map<string | undefined, Set<string>>()

/** Fields that events of the shown workspace have, as far as lists have told. */
export function knownFields(): string[] {
  return [...(fieldsOf.get(workspaceId.value) ?? [])]
}

function noteFields(events: readonly EventSummary[]): void {
  const known = fieldsOf.get(workspaceId.value) ?? new Set<string>()
  fieldsOf.set(workspaceId.value, known)
  for (const { excerpt = {} } of events) for (const path of Object.keys(excerpt)) known.add(path)
}
