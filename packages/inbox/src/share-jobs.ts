import { maxEventsPerJob } from '@automation/jobs'
import type { NewEvent } from './commit-acceptances.js'

/** An event, and who waits for it. */
export interface Arrival {
  event: NewEvent
  /** The API instance on which its caller waits. */
  replyTo: string | undefined
}

/** What a job on the belt needs to know of an event. */
export type QueuedEvent = Pick<NewEvent, 'id' | 'workspaceId' | 'ruleId' | 'traceparent'>

/** Events that travel together. */
export interface EventsJob {
  /** That of the first event, be it accepted or not. */
  id: string
  /** 0 before all others, and further back the higher (fair-share.ts). */
  place: number
  replyTo: string | undefined
  events: QueuedEvent[]
}

/**
 * Shares jobs out to events that are about to be accepted by one commit, of any workspaces: a job's way over the belt costs
 * as much as running an event. What a flood adds beyond its share travels by itself, further back.
 */
export function shareJobs(arrivals: Arrival[], findPlace: (workspaceId: string) => number): EventsJob[] {
  const jobs: EventsJob[] = []
  const open = new Map<string, EventsJob>()
  for (const { event, replyTo } of arrivals) {
    const place = findPlace(event.workspaceId)
    const company = `${event.ruleId === null} ${replyTo} ${place > 0 ? event.workspaceId : ''}`
    let job = open.get(company)
    if (job === undefined || job.events.length === maxEventsPerJob) {
      job = { id: event.id, place, replyTo, events: [] }
      open.set(company, job)
      jobs.push(job)
    }
    job.events.push(event)
  }
  return jobs
}
