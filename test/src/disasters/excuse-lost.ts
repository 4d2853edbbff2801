import { groupBy } from '../storm/group-by.js'
import type { Evidence } from '../storm/storm.js'
import { type ExecutionRow, readTables } from '../storm/tables.js'
import type { Target } from '../storm/target.js'

/** What is acknowledged from here on (epoch ms), and until nobody acknowledges any more, may be lost. */
export interface LostTime {
  from: number
  to: number
}

export interface Loss {
  /** Events and webhooks that were acknowledged, and are not there. */
  events: number
  /** Calls of these events, which nobody knows any more. */
  calls: number
  /** Calls of events that are there that were made more often than is known, all under their first keys. */
  again: number
}

/**
 * Takes out of the evidence what was lost because the database was brought back to an earlier state, and nothing else: what was acknowledged before or after that time
 * has to be there, and what was called again has to have its first key and body.
 */
export async function excuseLost(
  { site, load, edits, once, target, onceTarget }: Evidence,
  { from, to }: LostTime,
): Promise<Loss> {
  const isLostTime = ({ at }: { at: number }) => at >= from && at <= to
  const { events, receipts, executions } = await readTables(site, 'others')
  const ofOnce = await readTables(site, 'once')
  const stored = new Set([...events, ...receipts].map(({ id }) => id))
  const storedNames = new Set(events.map(({ name }) => name))
  const lostNames = new Set<string>()
  for (const { event, outcomes } of load.sent)
    for (const outcome of outcomes) {
      const isThere = outcome.id === undefined ? storedNames.has(event.name) : stored.has(outcome.id)
      if (outcome.kind !== 'ok' || isThere || !isLostTime(outcome)) continue
      lostNames.add(event.name)
      Object.assign(outcome, { kind: 'unknown', id: undefined })
    }
  // Without a response in that time it may have been accepted and called, too.
  for (const { event, outcomes } of load.sent)
    if (outcomes.some((outcome) => outcome.kind === 'unknown' && isLostTime(outcome)))
      lostNames.add(event.name)
  const onceNames = new Set(ofOnce.events.map(({ name }) => name))
  for (const event of once.sent)
    if (event.isAcknowledged && !onceNames.has(event.name) && isLostTime(event)) event.isAcknowledged = false
  edits.acknowledged.splice(0, Infinity, ...edits.acknowledged.filter((edit) => !isLostTime(edit)))
  for (const changes of edits.roles.values())
    for (const change of changes) if (isLostTime(change)) change.isAccepted = false
  const calls = forget(target, executions, (name) => lostNames.has(name))
  const onceCalls = forget(onceTarget, ofOnce.executions, () => true)
  const again = forgive(target, executions, Number.POSITIVE_INFINITY)
  const onceAgain = forgive(onceTarget, ofOnce.executions, 1)
  return {
    events: [...lostNames].filter((name) => !storedNames.has(name)).length,
    calls: calls + onceCalls,
    again: again + onceAgain,
  }
}

/** @returns how many keys of executions that are not there were forgotten */
function forget(
  { calls }: Pick<Target, 'calls'>,
  executions: ExecutionRow[],
  isLost: (name: string) => boolean,
): number {
  const ids = new Set(executions.map(({ id }) => id))
  const lost = [...calls].filter(
    ([key, { names }]) => !ids.has(executionOf(key)) && [...names].every((name) => isLost(name)),
  )
  for (const [key] of lost) calls.delete(key)
  return lost.length
}

/** @param most of one key, beside what is noted @returns how many calls more than that were counted */
function forgive({ calls }: Pick<Target, 'calls'>, executions: ExecutionRow[], most: number): number {
  const byId = groupBy(executions, ({ id }) => id)
  let again = 0
  for (const [key, known] of calls) {
    const noted = byId.get(executionOf(key))?.[0]?.attempts[Number(key.slice(key.indexOf(':') + 1))] ?? 0
    const excess = known.count - Math.min(Math.max(noted, 1), most)
    if (excess <= 0) continue
    again += excess
    known.count -= excess
  }
  return again
}

function executionOf(key: string): string {
  return key.slice(0, key.indexOf(':'))
}
