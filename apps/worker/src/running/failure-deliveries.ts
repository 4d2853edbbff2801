import { maxSubscriptions } from '@automation/access'
import type { FollowUps } from '@automation/ledger'
import { LRUCache } from 'lru-cache'
import type { Execution } from './execution.js'

const maxWorkspaces = 10_000

/**
 * Counts the events for subscriptions that a commit inserts because executions fail. Only the statement reads who is subscribed, so the last commit
 * with failures of a workspace says how many each of them causes. Before the first one, the most that a workspace may have is taken.
 */
export class FailureDeliveries {
  /** By workspace. */
  readonly #ofOneFailure = new LRUCache<string, number>({ max: maxWorkspaces })

  count(executions: Execution[]): number {
    let count = 0
    for (const { record, event } of executions)
      if (isPublished(record, event)) count += this.#ofOneFailure.get(event.workspaceId) ?? maxSubscriptions
    return count
  }

  /** @param executions that were stored */
  note(executions: Execution[], followUps: FollowUps | undefined): void {
    const failures = new Map<string, number>()
    for (const { record, event } of executions)
      if (isPublished(record, event)) increment(failures, event.workspaceId)
    if (failures.size === 0) return
    const deliveries = new Map<string, number>()
    for (const { workspaceId } of followUps?.deliveries ?? []) increment(deliveries, workspaceId)
    for (const [workspaceId, count] of failures)
      this.#ofOneFailure.set(workspaceId, (deliveries.get(workspaceId) ?? 0) / count)
  }
}

/** The failure of a delivery is not published. */
function isPublished({ status }: Execution['record'], { addressee }: Execution['event']): boolean {
  return status === 'failed' && addressee?.kind !== 'subscription'
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
