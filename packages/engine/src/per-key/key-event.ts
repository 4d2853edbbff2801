/** A matching event of a key: its moment (epoch ms), and the execution of the rule for it. */
export interface KeyEvent {
  readonly at: number
  readonly eventId: string
  readonly executionId: string
}

/** By the order of acceptance. */
export function isBefore(one: KeyEvent, other: KeyEvent): boolean {
  return one.at === other.at ? one.eventId < other.eventId : one.at < other.at
}
