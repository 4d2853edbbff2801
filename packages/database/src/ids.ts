import { hash, randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const idBytes = 16
const pool = Buffer.alloc(256 * idBytes)
let used = pool.length
let msecs = 0
let seq = 0

/** A new UUID v7: ordered by time, and within one process by creation. Random bytes are fetched for many ids at once. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + idBytes)
  used += idBytes
  const now = Date.now()
  if (now > msecs) {
    msecs = now
    // 31 bits, so that there is room to count up within the millisecond.
    seq = random.readUInt32BE(0) >>> 1
  } else seq++
  return v7({ random, msecs, seq })
}

/** When an id was made (epoch ms), by the clock of the process that made it. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The lowest id that could have been made at a time (epoch ms): rows before it are older. */
export function firstIdOf(time: number): string {
  const hex = Math.trunc(time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** How much the clocks of two processes may differ (ms): an id carries the time of one process, a column often that of Postgres. */
export const clockSkewMs = 60 * 60 * 1_000

/** Below and above all ids. */
export const lowestId = '00000000-0000-0000-0000-000000000000'
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The lowest id of the same millisecond, whatever its version: executions have ids of both. */
export function lowestIdLike(id: string): string {
  return id.slice(0, 13) + lowestId.slice(13)
}

export function highestIdLike(id: string): string {
  return id.slice(0, 13) + highestId.slice(13)
}

/**
 * The id of the execution of one rule for one event. It follows from the two (UUID v8: the event's timestamp, then
 * a digest), so a job that is delivered twice computes the same id, outside calls repeat under the same key, and
 * an event finds its executions without an index.
 */
export function executionIdOf(event: { id: string; ruleId: string | null }, ruleId: string): string {
  // Executed by hand: event and execution are one to one, so a caller can be told the id before it ran.
  if (event.ruleId !== null) return event.id
  const digest = hash('sha1', event.id + ruleId)
  const variant = '89ab'[Number.parseInt(digest.charAt(3), 16) & 3]
  return `${event.id.slice(0, 13)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`
}

/** The id of a set of rules. It follows from what is in it (UUID v8), so whoever meets the same rules names them alike. */
export function ruleSetIdOf(ruleIds: readonly string[]): string {
  const digest = hash('sha256', ruleIds.join(' '))
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(12, 15)}-8${digest.slice(15, 18)}-${digest.slice(18, 30)}`
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text)
}
