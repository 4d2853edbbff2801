import { FairQueue } from '@automation/admission'
import { mailConnections } from './effects/mail-transports.js'

export type Admission = ReturnType<typeof createAdmission>

/** To write so many rows takes Postgres about 50 ms, and the locks of a commit last as long as it. */
const rowsTogether = 1_000

/**
 * What the tenants of a worker share. Owners take turns by cost (fair-queue.ts in packages/admission): that of events is ms of the event loop, of commits
 * rows, and of calls and mails ms for which they have their slot.
 *
 * @param slots for calls and mails, at a time
 */
export function createAdmission(slots: number) {
  const tenth = Math.max(1, Math.floor(slots / 10))
  const mails = Math.min(tenth, mailConnections)
  const half = Math.max(1, Math.floor(slots / 2))
  return {
    slots,
    /** From before an event is loaded until its outcome is committed. More of one owner at a time would have little more throughput, and longer turns. */
    events: new FairQueue({ total: 200, perOwner: 100, longCost: 5 }),
    /** Events under which a worker has ended: each runs alone. */
    isolated: new FairQueue({ total: 1 }),
    /** A commit beside another one of the same owner would wait for the counters of the same rules. */
    commits: new FairQueue({ total: 3, perOwner: 1, together: { count: 200, cost: rowsTogether } }),
    /** By workspace and destination: no slow server takes all slots of its callers. */
    calls: new FairQueue({
      total: Math.max(1, slots - mails),
      perOwner: half,
      perKey: tenth,
      waiting: 10 * half,
    }),
    /** One server for all: a mute one leaves the other slots to calls. */
    mails: new FairQueue({ total: mails, perOwner: Math.ceil(mails / 2), waiting: 10 * half }),
  }
}
