import type { UnclaimedExecution, UndoneEvent } from '@automation/ledger'
import type { DueExecution, EventQueue } from '@automation/queue'

export type RestoringQueue = Pick<EventQueue, 'restore' | 'restoreDue'>

/** A job that should be in the queue. */
export interface MissingJob {
  id: string
  /** Adds the job unless it is queued. @returns the number of events or executions that it restored */
  restore(): Promise<number>
}

export interface Restoration {
  restored: number
  /** Jobs */
  failed: number
  example?: { jobId: string; err: unknown }
}

/** The jobs of events. Events that were accepted, or emitted, together share a job again, without those that are done. */
export function eventJobs(queue: RestoringQueue, events: UndoneEvent[]): MissingJob[] {
  const byJob = new Map<string, UndoneEvent[]>()
  for (const event of events) {
    const siblings = byJob.get(event.jobId)
    if (siblings) siblings.push(event)
    else byJob.set(event.jobId, [event])
  }
  return [...byJob].map(([id, siblings]) => ({
    id,
    restore: async () => ((await queue.restore(id, siblings)) ? siblings.length : 0),
  }))
}

export function executionJobs(queue: RestoringQueue, executions: UnclaimedExecution[]): MissingJob[] {
  return executions.map((execution) => ({
    id: execution.id,
    restore: async () => ((await queue.restoreDue(dueOf(execution))) ? 1 : 0),
  }))
}

function dueOf({ id, eventId, workspaceId, createdBy, dueAt }: UnclaimedExecution): DueExecution {
  return { executionId: id, eventId, workspaceId, createdBy, dueAt: new Date(dueAt) }
}

/** Restores each job by itself: a failure stops no other job, and the next walk tries that job again. */
export async function restoreJobs(jobs: MissingJob[]): Promise<Restoration> {
  const results = await Promise.allSettled(jobs.map((job) => job.restore()))
  const restoration: Restoration = { restored: 0, failed: 0 }
  results.forEach((result, index) => {
    if (result.status === 'fulfilled') restoration.restored += result.value
    else {
      restoration.failed += 1
      restoration.example ??= { jobId: jobs[index]?.id ?? '', err: result.reason }
    }
  })
  return restoration
}

export function addUp(first: Restoration, second: Restoration): Restoration {
  const example = first.example ?? second.example
  return {
    restored: first.restored + second.restored,
    failed: first.failed + second.failed,
    ...(example && { example }),
  }
}
