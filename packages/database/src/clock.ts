/** A clock that differs by more (ms) from that of Postgres is reported, and a worker with it removes nothing by age. */
const toleratedMs = 60_000
/** Both clocks are read in whole milliseconds. */
const roundingMs = 1

/** How far (ms) this process' clock is ahead of Postgres' clock; undefined until Postgres was asked. */
let aheadMs: number | undefined

/**
 * The time (epoch ms) by Postgres' clock, as far as this process knows it. All processes share that clock, so it dates all that is stored and
 * decides what is due: their own clocks may differ. Only tokens and signatures of others are judged by the process' own clock.
 */
export function postgresNow(): number {
  return Date.now() - (aheadMs ?? 0)
}

/**
 * Postgres has read its clock between the question and the response, so the difference is known up to that time. What is known stays as long as it may be
 * true: a clock that agrees stays at a difference of 0, and time does not run backwards because one response was late.
 *
 * @param now of Postgres (epoch ms) @param sentAt when it was asked, by this process' clock @param tookMs until it had responded
 */
export function noteClock(now: number, sentAt: number, tookMs: number): void {
  const least = sentAt - now - roundingMs
  const most = sentAt + Math.ceil(tookMs) - now + roundingMs
  aheadMs = Math.min(Math.max(aheadMs ?? 0, least), most)
}

/** How far (ms) this process' clock is ahead of Postgres' clock, by the last reading; undefined before the first one. */
export function clockAheadMs(): number | undefined {
  return aheadMs
}

/** Whether a difference of clocks (ms) is so large that one of the two is wrong. */
export function isClockWrong(ahead: number | undefined): boolean {
  return Math.abs(ahead ?? 0) > toleratedMs
}
