import { Type } from 'typebox'

/** The one queue. Its keys live under a prefix with a hash tag, so that Redis Cluster keeps them in one slot. */
export const queueName = 'automation'

/**
 * `trigger` runs every active rule of each event's type; `execute` runs the one rule that each event names; `resume` goes on
 * with an execution that waited, or whose worker died.
 */
export const JobName = Type.Enum(['trigger', 'execute', 'resume'])
export type JobName = Type.Static<typeof JobName>

/** Where tracing is on: a place in a trace, as W3C Trace Context writes it. */
const traceparent = Type.Optional(Type.String())

/** Which event, and whose. */
export const EventPointer = Type.Object({
  id: Type.String({ format: 'uuid' }),
  workspaceId: Type.String({ format: 'uuid' }),
  traceparent,
})
export type EventPointer = Type.Static<typeof EventPointer>

/** So many events share a job at most: enough to make its way over the belt cheap, few enough to be spread over workers. */
export const maxEventsPerJob = 50

/** What `trigger` and `execute` carry: events that were accepted by one commit travel together. */
export const EventsJobData = Type.Object({
  events: Type.Array(EventPointer, { minItems: 1, maxItems: maxEventsPerJob }),
  replyTo: Type.Optional(
    Type.String({ description: 'The API instance on which callers wait for the answers.' }),
  ),
})
export type EventsJobData = Type.Static<typeof EventsJobData>

/** What `resume` carries. */
export const ResumeJobData = Type.Object({
  executionId: Type.String({ format: 'uuid', description: 'the execution to go on with' }),
  eventId: Type.String({ format: 'uuid' }),
  workspaceId: Type.String({ format: 'uuid' }),
  traceparent,
})
export type ResumeJobData = Type.Static<typeof ResumeJobData>

/** A job only points at committed rows. Its id is noted in these, or follows from them, so each row has at most one job. */
export const JobData = Type.Union([EventsJobData, ResumeJobData])
export type JobData = Type.Static<typeof JobData>

/** Where a job on the belt may be, as metrics tell it. */
export const jobStates = ['waiting', 'prioritized', 'active', 'delayed', 'failed'] as const

/**
 * BullMQ's verdict on a job is about transport only: what is not done in Postgres comes back by the sweeper. So few
 * attempts; a job that is done is gone, since its history is in Postgres, and those that failed stay for a day (seconds)
 * for people who look at the queue.
 */
export const jobOptions = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 200 },
  removeOnComplete: true,
  removeOnFail: { count: 1_000, age: 86_400 },
}

/**
 * How soon the job of a worker that vanished runs again: within lockDuration + stalledInterval (milliseconds).
 * A job is never failed for having stalled: the next worker takes it.
 */
export const stallOptions = { lockDuration: 6_000, stalledInterval: 3_000, maxStalledCount: 1_000 }
