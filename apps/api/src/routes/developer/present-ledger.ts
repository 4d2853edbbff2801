import type { Audit } from '@automation/ledger'
import { faultKinds } from '@automation/ledger'
import { Type } from 'typebox'
import { Timestamp } from '../../responses.js'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** The reconciliation of what was accepted with what was executed. */
export const Ledger = Type.Object(
  {
    from: Timestamp,
    to: Timestamp,
    isComplete: Type.Boolean({
      description:
        'false if the time limit ended the reconciliation early. `from` is then later than requested. Use it as the `to` of the next request.',
    }),
    imbalance: Count('Number of inconsistencies. 0 if everything adds up.'),
    faults: Type.Array(
      Type.Object(
        {
          kind: Type.Enum(Object.keys(faultKinds) as (keyof typeof faultKinds)[], {
            description: Object.entries(faultKinds)
              .map(([kind, meaning]) => `${kind}: ${meaning}.`)
              .join(' '),
          }),
          count: Count('Number of inconsistencies of this kind'),
          ids: Type.Array(Type.String(), { description: 'Ids of up to ten affected rows' }),
        },
        { title: 'LedgerFault' },
      ),
      { description: 'One entry for each kind of inconsistency that exists' },
    ),
    receipts: Type.Object(
      {
        received: Count('accepted + duplicate + rejected'),
        accepted: Count('Webhooks with a receipt'),
        duplicate: Count(
          'Repeated deliveries of accepted webhooks, in the hours (UTC) that start between `from` and `to`',
        ),
        rejected: Count('Webhooks rejected for any reason, in the same hours'),
      },
      { description: 'Webhooks delivered to this workspace' },
    ),
    events: Type.Object(
      {
        accepted: Count('fromOutside + fromReceipts + replayed + emitted + service = done + waiting'),
        fromOutside: Count('Events posted by clients, and rules executed manually'),
        fromReceipts: Count('Events from accepted webhooks'),
        replayed: Count('Replays'),
        emitted: Count('Events from EMIT_EVENT actions'),
        service: Count('Deliveries to subscriptions'),
        done: Count('Events whose executions are recorded'),
        quarantined: Count('Events that were quarantined, and so have no executions'),
        waiting: Count('Events that wait for a worker'),
        overdue: Count('Events that have waited for longer than 30 seconds'),
      },
      { description: 'Accepted events' },
    ),
    executions: Type.Object(
      {
        begun: Count('succeeded + failed + cancelled + suppressed + waiting + leased'),
        succeeded: Count('Succeeded executions'),
        failed: Count('Failed executions'),
        cancelled: Count('Cancelled executions. The counters of their rules do not include them.'),
        suppressed: Count(
          'Executions that `perKey` of their rule did not grant. Counters do not include them.',
        ),
        waiting: Count('Executions that wait for a WAIT to end or for the next attempt'),
        leased: Count('Executions that a worker holds'),
        overdue: Count('Unfinished executions that have been due for longer than 30 seconds'),
        deliveries: Type.Object(
          {
            begun: Count('succeeded + failed + cancelled + unfinished'),
            succeeded: Count('Succeeded deliveries'),
            failed: Count('Failed deliveries'),
            cancelled: Count('Cancelled deliveries'),
            unfinished: Count('Deliveries that run or wait'),
          },
          {
            description:
              'The deliveries to subscriptions among them. All others are executions of rules, which GET /api/overview counts.',
          },
        ),
      },
      { description: 'Executions of these events' },
    ),
    effects: Type.Object(
      {
        tasks: Count('Created tasks'),
        emittedEvents: Count('Emitted events'),
        calls: Type.Object(
          {
            succeeded: Count('Calls whose last attempt succeeded'),
            failed: Count('Calls that failed permanently'),
            unknown: Count(
              'Calls with an unknown outcome: a worker crashed during the call, and the action does not allow a retry',
            ),
            open: Count('Calls in progress, or waiting for the next attempt'),
          },
          { description: 'Emails, webhooks and notifications' },
        ),
      },
      { description: 'Effects of these executions' },
    ),
  },
  { title: 'Ledger' },
)
export type Ledger = Type.Static<typeof Ledger>

/** @param unstored deliveries that left no row */
export function presentLedger(
  { from, receipts, events, executions, effects, faults }: Audit,
  asked: { from: number; to: number },
  unstored: { duplicate: number; rejected: number },
): Ledger {
  const { accepted } = receipts
  const { duplicate, rejected } = unstored
  const { deliveriesSucceeded, deliveriesFailed, deliveriesCancelled, deliveriesUnfinished, ...counted } =
    executions
  const { succeeded, failed, cancelled, suppressed, waiting, leased } = counted
  return {
    from: new Date(from).toISOString(),
    to: new Date(asked.to).toISOString(),
    isComplete: from <= asked.from,
    imbalance: faults.reduce((sum, { count }) => sum + count, 0),
    faults,
    receipts: { received: accepted + duplicate + rejected, accepted, duplicate, rejected },
    events: {
      accepted: events.done + events.waiting,
      ...events,
      // A receipt at the border may have its event beyond it.
      fromOutside: Math.max(events.fromOutside - receipts.events, 0),
      fromReceipts: receipts.events,
    },
    executions: {
      begun: succeeded + failed + cancelled + suppressed + waiting + leased,
      ...counted,
      deliveries: {
        begun: deliveriesSucceeded + deliveriesFailed + deliveriesCancelled + deliveriesUnfinished,
        succeeded: deliveriesSucceeded,
        failed: deliveriesFailed,
        cancelled: deliveriesCancelled,
        unfinished: deliveriesUnfinished,
      },
    },
    effects: {
      tasks: effects.tasks,
      emittedEvents: effects.emittedEvents,
      calls: {
        succeeded: effects.callsSucceeded,
        failed: effects.callsFailed,
        unknown: effects.callsUnknown,
        open: effects.callsOpen,
      },
    },
  }
}
