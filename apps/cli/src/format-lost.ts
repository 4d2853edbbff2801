import type { Lost } from '@automation/history'
import { formatTable, maskControls } from './format.js'

/** What a failover has lost, a table for each kind that has any. */
export function formatLost({ since, events, receipts, calls, changes }: Lost): string {
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
  return found.length === 0 ? `Nothing is missing ${range}.` : `${found.join('\n\n')}\n\nCompared ${range}.`
}

function tableOf(title: string, rows: object[], columns: string[]): string | undefined {
  if (rows.length === 0) return undefined
  return `${title}: ${rows.length}\n${maskControls(formatTable(rows, columns as never[]))}`
}
