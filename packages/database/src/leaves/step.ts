/** What a transaction has done; nothing of it if there is nothing to do. */
export interface Step {
  /** There may be more to do. */
  goesOn?: boolean
  /** Somebody held a lock that it needs. */
  waits?: boolean
  gaveUp?: boolean
  made?: string[]
  gone?: string[]
}
