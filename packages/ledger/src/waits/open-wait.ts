/** An execution that waits for an event. */
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

/** An execution that a commit made due. */
export interface WokenExecution {
  executionId: string
  eventId: string
  workspaceId: string
  createdBy: string | null
  dueAt: Date
}
