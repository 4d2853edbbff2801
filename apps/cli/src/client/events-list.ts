import type { EventSummary } from '@automation/client'
import type { Command } from 'commander'
import { formatTable } from '../format.js'
import { readId, readTimestamp } from '../option-readers.js'
import { addCommand, print } from '../program.js'
import { limitOption, takeFirst } from './take-first.js'
import { apiVariables, useApi } from './use-api.js'

export function addEventsList(events: Command): void {
  addCommand(events, {
    name: 'list',
    description:
      'List the events, newest first. Deliveries to a subscription are listed only with --subscription, or with their type.',
    example: '--type LEAD_CREATED --from 2026-11-01 --limit 10',
    reads: apiVariables,
  })
    .option('--type <type>', 'only events of this type')
    .option('--status <status>', 'only events that are accepted, running, done or quarantined')
    .option('--rule <id>', 'only events for which this rule was considered', readId)
    .option('--subscription <id>', 'only deliveries to this subscription', readId)
    .option('--from <time>', 'accepted then or later: an ISO 8601 date, or a time with a zone', readTimestamp)
    .option('--to <time>', 'accepted before then', readTimestamp)
    .option(...limitOption)
    .action(list)
}

interface Options {
  type?: string
  status?: EventSummary['status']
  rule?: string
  subscription?: string
  from?: number
  to?: number
  limit: number
}

async function list(options: Options, command: Command): Promise<void> {
  const { type, status, rule, subscription, from, to, limit } = options
  const query = {
    ...(type !== undefined && { eventType: type }),
    ...(status !== undefined && { status }),
    ...(rule !== undefined && { ruleId: rule }),
    ...(subscription !== undefined && { subscriptionId: subscription }),
    ...(from !== undefined && { from: new Date(from).toISOString() }),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  }
  const events = await useApi('read', (client) => takeFirst(limit, client.events.list(query)))
  print(
    command,
    events,
    formatTable(events, ['id', 'eventType', 'status', 'matched', 'failed', 'acceptedAt']),
  )
}
