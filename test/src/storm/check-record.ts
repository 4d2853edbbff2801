import { groupBy } from './group-by.js'
import type { SentEvent } from './load.js'
import type { EventRow, ReceiptRow, Tables } from './tables.js'

/**
 * Compares the responses that the client got with the tables. An acknowledged event is stored once, with the id of its
 * response. Without a response it is stored at most once, and a refused one is not stored. One sentence for each violation.
 */
export function checkRecord(
  sent: SentEvent[],
  { events, receipts }: Tables,
  workspaceIds: string[],
): string[] {
  const fromOutside = groupBy(
    events.filter(({ causedBy, replayOf }) => causedBy === null && replayOf === null),
    ({ name }) => name,
  )
  const receiptsByKey = groupBy(receipts, ({ key }) => key)
  const names = new Set(sent.map(({ event }) => event.name))
  const strays = [...fromOutside.keys()].filter((name) => !names.has(name))
  return [
    ...strays.map((name) => `${name}: nobody has sent it`),
    ...sent.flatMap((one) => {
      const { name, workspace } = one.event
      const rows = fromOutside.get(name) ?? []
      const faults = findFaults(one, rows, receiptsByKey.get(name) ?? [], workspaceIds[workspace] ?? '')
      return faults.map((fault) => `${name} (${describe(one)}): ${fault}`)
    }),
  ]
}

function findFaults(
  { event, outcomes }: SentEvent,
  rows: EventRow[],
  receipts: ReceiptRow[],
  workspaceId: string,
): string[] {
  const [least, most] = limitsOf(outcomes.map(({ kind }) => kind))
  const faults = event.becomes.flatMap((type) => {
    const count = rows.filter((row) => row.type === type && row.workspaceId === workspaceId).length
    return count < least || count > most ? [`there are ${count} events ${type}`] : []
  })
  if (rows.some(({ type }) => !event.becomes.includes(type))) faults.push('it became what it should not')
  if (rows.length % event.becomes.length !== 0) faults.push('it was accepted by halves')
  const acknowledged = new Set(outcomes.flatMap(({ id }) => (id === undefined ? [] : [id])))
  if (acknowledged.size > 1) faults.push(`its caller got the ids ${[...acknowledged].join(' and ')}`)
  const stored = event.route === 'webhook' ? receipts : rows
  for (const id of acknowledged)
    if (!stored.some((row) => row.id === id)) faults.push(`${id} was acknowledged, and is not there`)
  if (event.route === 'webhook') {
    const [receipt, ...others] = receipts
    if (others.length > 0) faults.push(`there are ${receipts.length} receipts`)
    const named = rows.filter(({ id }) => receipt?.eventIds.includes(id))
    if (named.length !== rows.length) faults.push('its receipt does not name its events')
  }
  const refusals = outcomes.filter(({ kind, status }) => kind === 'failed' && status !== undefined)
  return [...faults, ...refusals.map(({ status }) => `it was refused with ${status}`)]
}

/** How often it may have been accepted. Only what has a key has several calls. */
function limitsOf(kinds: string[]): [number, number] {
  if (kinds.includes('ok')) return [1, 1]
  return kinds.includes('unknown') ? [0, 1] : [0, 0]
}

function describe({ event, outcomes }: SentEvent): string {
  const calls = outcomes.map(({ kind, status }) => `${kind} ${status ?? '-'}`)
  return `${event.type}, ${event.isKeyed ? 'keyed' : 'without key'}, ${event.isSync ? 'sync' : 'async'}; ${calls.join(', ')}`
}
