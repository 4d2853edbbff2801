import type { Audit } from '@automation/ledger'
import { faultKinds } from '@automation/ledger'
import { Type } from 'typebox'
import { Timestamp } from '../responses.js'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** What came in, what was run and what came of it: each line adds up, and nothing is missing. */
export const Ledger = Type.Object({
  from: Timestamp,
  to: Timestamp,
  isComplete: Type.Boolean({
    description:
      'false where the time did not suffice: `from` is then later than what was asked for, and the `to` to go on with',
  }),
  imbalance: Count('how much there is that must not be; 0 where the books are in balance'),
  faults: Type.Array(
    Type.Object({
      kind: Type.Enum(Object.keys(faultKinds) as (keyof typeof faultKinds)[], {
        description: Object.entries(faultKinds)
          .map(([kind, meaning]) => `${kind}: ${meaning}.`)
          .join(' '),
      }),
      count: Count('how often'),
      ids: Type.Array(Type.String(), { description: 'of ten of them' }),
    }),
    { description: 'one for each kind of what must not be, where there is any' },
  ),
  receipts: Type.Object(
    {
      received: Count('accepted + duplicate + rejected'),
      accepted: Count('webhooks that have a receipt'),
      duplicate: Count('replays of accepted ones; of the hours (UTC) that begin between `from` and `to`'),
      rejected: Count('refused for whatever reason; of the same hours'),
    },
    { description: 'deliveries of webhooks that named this workspace' },
  ),
  events: Type.Object(
    {
      accepted: Count('fromOutside + fromReceipts + replayed + emitted + service = done + waiting'),
      fromOutside: Count('posted, or asked for by hand'),
      fromReceipts: Count('what accepted webhooks became'),
      replayed: Count('posted again from history'),
      emitted: Count('by EMIT_EVENT'),
      service: Count('told to subscriptions'),
      done: Count('their runs are recorded'),
      quarantined: Count('of those that are done: given up, without executions'),
      waiting: Count('for a worker'),
      overdue: Count('of those that wait: for longer than 30 seconds'),
    },
    { description: 'events that were accepted' },
  ),
  executions: Type.Object(
    {
      begun: Count('succeeded + failed + cancelled + waiting + leased'),
      succeeded: Count('finished'),
      failed: Count('finished'),
      cancelled: Count('finished, and not counted by their rules'),
      waiting: Count('for the end of a WAIT, or for the next attempt'),
      leased: Count('a worker has them'),
      overdue: Count('of those that are not finished: due for longer than 30 seconds'),
    },
    { description: 'executions of these events' },
  ),
  effects: Type.Object(
    {
      tasks: Count('made'),
      emittedEvents: Count('emitted'),
      calls: Type.Object(
        {
          succeeded: Count('the last attempt did'),
          failed: Count('for good'),
          unknown: Count('a worker died during the call, and it was not to be repeated'),
          open: Count('under way, or waiting for the next attempt'),
        },
        { description: 'mails, webhooks and notifications' },
      ),
    },
    { description: 'what these executions did' },
  ),
})
export type Ledger = Type.Static<typeof Ledger>

/** @param unstored deliveries that left no row */
export function presentLedger(
  { from, receipts, events, executions, effects, faults }: Audit,
  asked: { from: number; to: number },
  unstored: { duplicate: number; rejected: number },
): Ledger {
  const { accepted } = receipts
  const { duplicate, rejected } = unstored
  const { succeeded, failed, cancelled, waiting, leased } = executions
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
    executions: { begun: succeeded + failed + cancelled + waiting + leased, ...executions },
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
