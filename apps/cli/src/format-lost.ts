import type { Lost } from '@automation/history'
import { formatTable } from './format.js'

/** What a failover has lost, a table for each kind that has any. */
export function formatLost({ since, events, receipts, calls, changes, isComplete }: Lost): string {
  const columns = ['at', 'workspaceId', 'id', 'what']
  const tables = [
    tableOf('Events that are gone', events, columns),
    tableOf('Receipts of webhooks that are gone', receipts, columns),
    tableOf('Calls that were begun there and are not known here', calls, [
      ...['at', 'workspaceId', 'idempotencyKey', 'what', 'isRepeated'],
    ]),
    tableOf('Changes that are undone', changes, columns),
  ]
  const found = tables.filter((table) => table !== undefined)
  const range = `since ${since.toISOString()}`
  if (found.length === 0) return `Nothing is missing ${range}.`
  const more = isComplete ? '' : ' There is more of one kind than is listed: compare a shorter time.'
  return `${found.join('\n\n')}\n\nCompared ${range}.${more}`
}

function tableOf(title: string, rows: object[], columns: string[]): string | undefined {
  if (rows.length === 0) return undefined
  return `${title}: ${rows.length}\n${formatTable(rows, columns as never[])}`
}
