import type { MadeDecision } from '@automation/engine'

/**
 * An execution that waits for an event. What wakes it decides nothing: it is due then, is claimed, and looks by itself.
 *
 *   recorded ──▶ waits ──▶ due: an event left its key, or has left it before; the time is over ──▶ claimed: it looks ──▶ the WAIT ends
 *                  ▲                                                                                       └── nothing ends it ──┐
 *                  └──────────────────────────────── with the last key that it has seen ─────────────────────────────────────────┘
 */
export interface OpenWait {
  /** waitKeyOf: only an event with it may end the wait. */
  readonly key: string
  readonly eventType: string
  /** The last EventKey that was looked at, in the order of their ids. */
  readonly seen: string
  /** Only a later event ends it, by time and then by id. */
  readonly after: { readonly acceptedAt: number; readonly id: string }
  /** When time ends it (epoch ms). An event that was accepted at that moment still counts. */
  readonly until: number
}

/** Nothing was looked at yet, not even at the events from before the rule was what it is (find-ending-events.ts). */
export const nothingSeen = '-1'

/**
 * An event makes all due that wait for its key, and each of them looks at it. So of one key no more may wait, and further ones fail: they are made due with
 * `tooManySeen`.
 */
export const maxOpenWaits = 10_000
export const tooManySeen = '-2'

/** What a person has decided for an execution, with the moment at which that was. */
export type StoredDecision = MadeDecision & { readonly at: string }

/** An execution that a commit made due. */
export interface WokenExecution {
  executionId: string
  eventId: string
  workspaceId: string
  /** Of the workspace. */
  createdBy: string | null
  dueAt: Date
}

/** A WokenExecution, of `executions`. */
export const wokenColumnsSql = `executions.id AS "executionId", executions.event_id AS "eventId", executions.workspace_id AS "workspaceId",
    executions.due_at AS "dueAt", (SELECT created_by FROM workspaces WHERE workspaces.id = executions.workspace_id) AS "createdBy"`
