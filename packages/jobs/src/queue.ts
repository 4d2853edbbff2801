import { Type } from 'typebox'

/** The one queue. Its keys live under a prefix with a hash tag, so that Redis Cluster keeps them in one slot. */
export const queueName = 'automation'

/**
 * `trigger` runs every active rule of the event's type; `execute` runs the one rule that the event names; `resume` goes on
 * with an execution that waited, or whose worker died.
 */
export const JobName = Type.Enum(['trigger', 'execute', 'resume'])
export type JobName = Type.Static<typeof JobName>

/** A job only points at a committed row. Its job id is the event's, or follows from the execution's, so each has at most one job. */
export const JobData = Type.Object({
  eventId: Type.String({ format: 'uuid' }),
  workspaceId: Type.String({ format: 'uuid' }),
  executionId: Type.Optional(Type.String({ format: 'uuid', description: 'the execution to go on with' })),
  replyTo: Type.Optional(
    Type.String({ description: 'The API instance on which a caller waits for the answer.' }),
  ),
})
export type JobData = Type.Static<typeof JobData>

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
