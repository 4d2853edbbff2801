import { Type } from 'typebox'

/** The name of each queue. Their keys have prefixes with a hash tag (queue-names.ts), so that Redis Cluster keeps those of a queue in one slot. */
export const queueName = 'automation'

/**
 * `trigger` runs every active rule of each event's type; `execute` runs the addressee of each event, a rule or a subscription;
 * `resume` continues an execution that waited, or whose worker ended.
 */
export const JobName = Type.Enum(['trigger', 'execute', 'resume'])
export type JobName = Type.Static<typeof JobName>

/** Present where tracing is on: the parent span, in the format of W3C Trace Context. */
const traceparent = Type.Optional(Type.String())

/** Who created the workspace, if anybody did: work of an owner takes turns with that of others. */
const createdBy = Type.Optional(Type.String())

/** An event and its workspace. */
export const EventPointer = Type.Object({
  id: Type.String({ format: 'uuid' }),
  workspaceId: Type.String({ format: 'uuid' }),
  createdBy,
  traceparent,
})
export type EventPointer = Type.Static<typeof EventPointer>

/**
 * How many events share a job. A worker commits them together, so the more wait, the more one worker takes at a time; and few enough to
 * spread the work over workers.
 */
export const maxEventsPerJob = 100

/** The data of `trigger` and `execute`: events that one commit accepted, or one execution emitted. */
export const EventsJobData = Type.Object({
  events: Type.Array(EventPointer, { minItems: 1, maxItems: maxEventsPerJob }),
  replyTo: Type.Optional(
    Type.String({ description: 'The API instance on which callers wait for the outcomes.' }),
  ),
})
export type EventsJobData = Type.Static<typeof EventsJobData>

/** The data of `resume`. */
export const ResumeJobData = Type.Object({
  executionId: Type.String({ format: 'uuid', description: 'the execution to continue' }),
  eventId: Type.String({ format: 'uuid' }),
  workspaceId: Type.String({ format: 'uuid' }),
  createdBy,
  traceparent,
})
export type ResumeJobData = Type.Static<typeof ResumeJobData>

/** A job only points at committed rows. Its id is stored in the rows or follows from them, so each row has at most one job. */
export const JobData = Type.Union([EventsJobData, ResumeJobData])
export type JobData = Type.Static<typeof JobData>

/** The states of a job that metrics report. */
export const jobStates = ['waiting', 'prioritized', 'active', 'delayed', 'failed'] as const

/**
 * BullMQ's retries are about transport only: the sweeper restores the job of each event that is not done in Postgres. So there are few
 * attempts. A completed job is removed, since its history is in Postgres; failed ones stay for a day (seconds) for people who
 * inspect the queue.
 */
export const jobOptions = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 200 },
  removeOnComplete: true,
  removeOnFail: { count: 1_000, age: 86_400 },
}

/**
 * The job of a worker that vanished runs again within lockDuration + stalledInterval (ms). A job never fails for having stalled: the
 * next worker gets it.
 */
export const stallOptions = { lockDuration: 6_000, stalledInterval: 3_000, maxStalledCount: 1_000 }
