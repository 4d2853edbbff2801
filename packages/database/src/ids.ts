import { hash, randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import { postgresNow } from './clock.js'

const idBytes = 16
const pool = Buffer.alloc(256 * idBytes)
let used = pool.length
let msecs = 0
let seq = 0

/** A clock that is set back by more (ms) was wrong before. Ids that went on from there would lie in the future until it catches up. */
const steppedBackMs = 60_000

/**
 * Creates a UUID v7: ordered by time, and within one process by creation, unless its clock is set back by more than a minute. Random bytes are drawn
 * for 256 ids at a time.
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + idBytes)
  used += idBytes
  const now = postgresNow()
  if (now > msecs || now < msecs - steppedBackMs) {
    msecs = now
    // 31 of 32 bits, so that the sequence can be incremented within the millisecond.
    seq = random.readUInt32BE(0) >>> 1
  } else seq++
  return v7({ random, msecs, seq })
}

/** The time (epoch ms) at which an id was created, by the clock of the process that created it. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The lowest id of a time (epoch ms): rows with lower ids are older. */
export function firstIdOf(time: number): string {
  const hex = Math.trunc(time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** The lowest id of the time so many ms after another one. */
export function idNear(time: Date, offsetMs: number): string {
  return firstIdOf(Math.max(0, time.getTime() + offsetMs))
}

/** How much two clocks may differ (ms): an id contains the time of one process, and a column often that of Postgres. */
export const clockSkewMs = 60 * 60 * 1_000

/** The ids below and above all others. */
export const lowestId = '00000000-0000-0000-0000-000000000000'
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The lowest id of the same millisecond, of any UUID version: executions have ids of versions 7 and 8. */
export function lowestIdLike(id: string): string {
  return id.slice(0, 13) + lowestId.slice(13)
}

export function highestIdLike(id: string): string {
  return id.slice(0, 13) + highestId.slice(13)
}

/**
 * Between which ids some ids lie, in lower case, and with them the executions of events that have them, or the events of executions. A statement that looks
 * for ids says this, too: from a list Postgres does not take which leaves have none of them. Of no ids it is a range without any.
 */
export function idRangeOf(ids: readonly string[]): [lowest: string, highest: string] {
  let [lowest, highest] = [highestId, lowestId]
  for (const id of ids) {
    if (id < lowest) lowest = id
    if (id > highest) highest = id
  }
  return [lowestIdLike(lowest), highestIdLike(highest)]
}

/**
 * The id of the execution of one rule for one event. It is computed from their ids (UUID v8: the event's timestamp, then a digest).
 * So a job that is delivered twice gets the same execution id, repeated outside calls have the same idempotency key, and the
 * executions of an event are found without an index of their own.
 */
export function executionIdOf(event: AddressedEvent, ruleId: string): string {
  // An event by hand has one execution, so the caller gets the execution's id before it runs.
  if (event.addressee !== null && event.addressee.kind !== 'tick') return event.id
  return timedIdOf(event.id, hash('sha1', event.id + ruleId))
}

/**
 * The id of a task. It is computed (UUID v8: the moment of its action, the action's index, then a digest of the execution and of how often that was
 * reopened). So a task that is recorded twice is one row, an action that starts again creates another one, and the tasks that an execution creates at
 * once are in the order of its actions.
 */
export function taskIdOf(
  execution: { id: string; reopened: number },
  actionIndex: number,
  createdAt: Date,
): string {
  const digest = hash('sha1', `${execution.id} ${execution.reopened}`)
  return timedIdOf(
    firstIdOf(createdAt.getTime()),
    actionIndex.toString(16).padStart(3, '0') + digest.slice(3),
  )
}

/** How long before its execution (ms) a task seems to be made at most. */
const taskClockErrorMs = 31 * 24 * 60 * 60 * 1_000

/**
 * An id below those of all tasks of some executions. A task is made by a worker, after the event of its execution was accepted, mostly by an API: a month
 * is to spare, so that a task is found even where the clock of either was wrong by weeks. There is no upper one: a WAIT may take a year.
 */
export function firstTaskIdOf(executionIds: readonly string[]): string {
  const [oldest] = idRangeOf(executionIds)
  return idNear(new Date(timeOf(oldest)), -taskClockErrorMs)
}

/** Of what is due in one second, each has a millisecond of its own: executions are found by the millisecond of their event. */
const tickSpreadMs = 1_000

/**
 * The id of the event of a tick, computed from its rule and time (UUID v8), so that it is made once. It begins with about the time at which it was
 * due. Lists find events by their ids with an hour to spare (clockSkewMs): a tick that is made later has the time of that hour.
 *
 * @param scheduledAt epoch ms @param now epoch ms, by Postgres' clock
 */
export function tickIdOf(ruleId: string, scheduledAt: number, now: number): string {
  const digest = hash('sha1', `${ruleId} ${scheduledAt}`)
  const spread = Number.parseInt(digest.slice(-6), 16) % tickSpreadMs
  return timedIdOf(firstIdOf(Math.max(scheduledAt, now - clockSkewMs) + spread), digest)
}

/** The UUID v8 that has the time of another id, and then a digest. */
function timedIdOf(id: string, digest: string): string {
  const variant = '89ab'[Number.parseInt(digest.charAt(3), 16) & 3]
  return `${id.slice(0, 13)}-8${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`
}

interface AddressedEvent {
  id: string
  addressee: { kind: 'rule' | 'tick' | 'subscription' } | null
}

/** The id of a set of rules. It is a digest of the ids of its rules (UUID v8), so all workers compute the same id for the same set. */
export function ruleSetIdOf(ruleIds: readonly string[]): string {
  return uuidOf(hash('sha256', ruleIds.join(' ')))
}

function uuidOf(digest: string): string {
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(12, 15)}-8${digest.slice(15, 18)}-${digest.slice(18, 30)}`
}

/** What a WAIT for an event waits for, and what an event has that may end it: a digest (UUID v8) of the type and the values that match. */
export function waitKeyOf(workspaceId: string, match: string): string {
  return uuidOf(hash('sha256', `${workspaceId} ${match}`))
}

/** The id of a key of a rule: of what its template gave for an event. Another template has other keys. */
export function keyIdOf(ruleId: string, template: string, key: string): string {
  return uuidOf(hash('sha256', JSON.stringify([ruleId, template, key])))
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text)
}
