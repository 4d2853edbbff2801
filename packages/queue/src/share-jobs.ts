import { type Owned, ownerOf } from '@automation/admission'
import type { NewEvent } from '@automation/ledger'
import { maxEventsPerJob } from './jobs.js'
import { queueOf } from './queue-names.js'

/** An event, and who waits for it. */
export interface Arrival {
  event: NewEvent
  /** The API instance on which its caller waits. */
  replyTo: string | undefined
}

/** What a job needs to know of an event. */
export type QueuedEvent = Pick<NewEvent, 'id' | 'workspaceId' | 'createdBy' | 'addressee' | 'traceparent'>

/** A job and its events, which belong to one queue. */
export interface EventsJob {
  /** That of the first event, whether it is accepted or not. */
  id: string
  /** 0 is the highest (fair-share.ts). */
  priority: number
  replyTo: string | undefined
  events: QueuedEvent[]
}

/** A worker loads the events of a job together, those of a dozen jobs at a time. */
const maxBytesPerJob = 1_048_576

/**
 * Distributes events of one commit, of any workspaces, over jobs: adding and consuming a job costs as much as running an event.
 * The events of an owner's backlog share jobs with each other alone, at a lower priority.
 *
 * @param queues over which the workspaces are spread
 */
export function shareJobs(
  arrivals: Arrival[],
  findPriority: (event: Owned) => number,
  queues = 1,
): EventsJob[] {
  const jobs: EventsJob[] = []
  const open = new Map<string, { job: EventsJob; bytes: number }>()
  for (const { event, replyTo } of arrivals) {
    const priority = findPriority(event)
    const queue = queueOf(event.workspaceId, queues)
    const batchKey = `${event.addressee === null} ${queue} ${replyTo} ${priority === 0 ? '' : ownerOf(event)}`
    const bytes = event.bytes ?? 0
    let known = open.get(batchKey)
    if (
      known === undefined ||
      known.job.events.length === maxEventsPerJob ||
      known.bytes + bytes > maxBytesPerJob
    ) {
      known = { job: { id: event.id, priority, replyTo, events: [] }, bytes: 0 }
      open.set(batchKey, known)
      jobs.push(known.job)
    }
    known.job.events.push(event)
    known.bytes += bytes
  }
  return jobs
}
