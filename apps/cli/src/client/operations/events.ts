import type { Event, Execution, Overview } from '@automation/client'
import { formatDuration } from '@automation/engine'
import { exampleId } from '../../program.js'
import { formatEvent } from '../format-event.js'
import { formatOverview } from '../format-overview.js'
import { type Operation, row } from '../operation.js'

export const eventOperations: readonly Operation[] = [
  row('events list', 'GET /api/events', {
    description:
      'List the events, newest first. Deliveries to a subscription are listed only with --subscription, or with their type.',
    example: '--type LEAD_CREATED --from 2026-11-01 --limit 10',
    columns: ['id', 'eventType', 'status', 'matched', 'failed', 'acceptedAt'],
  }),
  row('events get', 'GET /api/events/{id}', { shows: (event: Event) => formatEvent(event) }),
  row('events search', 'POST /api/events/search', {
    example: `--conditions '[{"field":"score","operator":"gt","value":80}]'`,
    options: { type: null },
    onlyReads: true,
    columns: ['id', 'eventType', 'status', 'acceptedAt'],
  }),
  row('events replay', 'POST /api/events/{id}/replay'),
  row('events replay-many', 'POST /api/events/replay', {
    example: `--filter '{"eventType":"LEAD_CREATED"}' --no-dry-run`,
  }),
  row('event-types list', 'GET /api/event-types', { columns: ['name', 'isOwn', 'description'] }),
  row('event-types create', 'POST /api/event-types', {
    example: 'ORDER_PLACED --description "A shop has an order"',
    arguments: ['name'],
  }),
  row('event-types update', 'PATCH /api/event-types/{name}', {
    example: 'ORDER_PLACED --description "A shop has a paid order"',
  }),
  row('event-types delete', 'DELETE /api/event-types/{name}', {
    example: 'ORDER_PLACED',
    asks: 'Delete the event type {name} permanently?',
    says: 'The event type {name} is deleted.',
  }),
  row('event-types fields', 'GET /api/event-types/{name}/fields', {
    example: 'LEAD_CREATED',
    columns: ['path', 'kinds', 'share', 'distinct'],
  }),
  row('executions list', 'GET /api/executions', {
    example: '--status failed --limit 10',
    namesRules: true,
    columns: ['id', 'rule', 'ruleId', 'eventId', 'status', 'waitsFor', 'error', 'startedAt'],
    computes: {
      took: ({ startedAt, finishedAt }: Execution) =>
        startedAt && finishedAt && formatDuration(Date.parse(finishedAt) - Date.parse(startedAt)),
    },
  }),
  row('executions get', 'GET /api/executions/{id}', { namesRules: true }),
  row('executions retry', 'POST /api/executions/{id}/retry', {
    description:
      'Retry a failed execution from its first unfinished action, or one that the switch-off of its rule cancelled.',
    example: `${exampleId} --version latest`,
    says: 'Execution {id} will continue from its first unfinished action.',
  }),
  row('executions retry-many', 'POST /api/executions/retry', {
    example: `--filter '{"ruleId":"${exampleId}"}' --no-dry-run`,
  }),
  row('executions acknowledge', 'PUT /api/executions/{id}/acknowledgement'),
  row('executions unacknowledge', 'DELETE /api/executions/{id}/acknowledgement'),
  row('tasks list', 'GET /api/tasks', {
    example: '--priority high',
    columns: ['id', 'title', 'assigneeId', 'priority', 'dueAt', 'createdAt'],
  }),
  row('tasks get', 'GET /api/tasks/{id}'),
  row('decisions list', 'GET /api/decisions', {
    example: '--status open',
    columns: ['id', 'ruleName', 'status', 'options', 'until', 'choice', 'by'],
  }),
  row('decisions decide', 'POST /api/decisions/{id}', {
    description: 'Decide what an execution waits for. The first decision counts.',
    example: `${exampleId} approve --reason "It is fair"`,
    arguments: ['choice'],
    says: 'You have decided: {choice}.',
  }),
  row('receipts list', 'GET /api/developer/v1/webhook-receipts', {
    example: '--state rejected',
    columns: ['id', 'provider', 'receiptState', 'eventTypes', 'receivedAt', 'reason'],
  }),
  row('receipts get', 'GET /api/developer/v1/webhook-receipts/{id}'),
  row('overview', 'GET /api/overview', {
    example: '--failures 10',
    shows: (overview: Overview) => formatOverview(overview),
  }),
]
