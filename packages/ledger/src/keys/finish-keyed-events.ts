import { type Database, idRangeOf, type Statements } from '@automation/database'
import type { ExecutionRecord, RecordableExecution } from '../outcomes/execution-record.js'
import { type Finished, finishEvents, type Outcome } from '../outcomes/finish-events.js'
import { addWoken } from '../outcomes/follow-ups.js'
import { moveBatches } from './batches.js'
import { decideClaims, unbegunRecord } from './decide-claims.js'
import { insertSuppressed, writeClaims } from './key-claims.js'
import { replaceExecutions } from './replace-executions.js'
import { settleWaits, waitLocksOf } from './settle-waits.js'
import { withKeys } from './with-keys.js'

/**
 * Finishes events that depend on keys: those that a WAIT may wait for, those with an execution that begins to wait for an event, and those of
 * which an execution asks for a key of its rule. One transaction, under the locks of the keys: what is known of each is read, each execution is
 * decided about in the order of their events, and the outcome is recorded with what it claims. So no two commits decide on the same state, and a
 * second delivery of an event, which finds it done, claims nothing.
 *
 * @returns as finishEvents, and the executions that have not begun: they are suppressed or wait, and their effects were not recorded
 */
export async function finishKeyedEvents<Execution extends RecordableExecution>(
  database: Pick<Database, 'transact'>,
  outcomes: Outcome<Execution>[],
): Promise<Finished<Execution> & { unbegun: Execution[] }> {
  const executions = outcomes.flatMap((outcome) => outcome.executions)
  const claimed = executions.flatMap(({ claim }) => (claim === undefined ? [] : `key ${claim.keyId}`))
  const keys = [...claimed, ...waitLocksOf(outcomes, executions)]
  const { unbegun, ...finished } = await withKeys(database, keys, async (statements) => {
    if (claimed.length === 0) return { ...(await finish(statements, outcomes)), unbegun: [] }
    const open = await lockUndone(statements, outcomes)
    const decided = await decideClaims(statements, outcomes, open)
    const finished = await finish(statements, outcomes.map(decided.outcomeOf))
    await insertSuppressed(statements, decided.suppressed)
    await replaceExecutions(statements, decided.replaced)
    await writeClaims(statements, decided.claims, decided.consumed)
    const moved = await moveBatches(statements, decided.moved)
    const heard = outcomes.filter(({ event, isRepeated }) => isRepeated && !open.has(event.id))
    const followUps = addWoken(finished.followUps, moved)
    return {
      ...finished,
      followUps,
      unbegun: [...decided.records, ...(await readUnbegun(statements, heard))],
    }
  })
  for (const [execution, record] of unbegun) Object.assign(execution.record, record)
  return { ...finished, unbegun: unbegun.map(([execution]) => execution) }
}

async function finish<Execution extends RecordableExecution>(
  statements: Statements,
  outcomes: Outcome<Execution>[],
) {
  const { held, followUps, rows } = await finishEvents(statements, outcomes)
  const finished = outcomes.filter((_, index) => held[index] !== undefined)
  const recorded = finished.flatMap(({ executions }) => executions)
  return { held, followUps: addWoken(followUps, await settleWaits(statements, finished, recorded)), rows }
}

/** Another delivery of an event may have other keys, if it met other versions of the rules: the row of the event decides which is first. */
async function lockUndone(
  statements: Statements,
  outcomes: readonly Outcome[],
): Promise<Map<string, Outcome>> {
  const ids = outcomes.map(({ event }) => event.id)
  const rows = await statements.run<{ id: string }>('lock_undone', lockUndoneSql, [ids, ...idRangeOf(ids)])
  const undone = new Set(rows.map(({ id }) => id))
  // Of two deliveries that meet in one commit, the first counts, as in finishEvents.
  const open = new Map<string, Outcome>()
  for (const outcome of outcomes)
    if (undone.has(outcome.event.id) && !open.has(outcome.event.id)) open.set(outcome.event.id, outcome)
  return open
}

/** $1 events · $2 and $3 the lowest and the highest id */
const lockUndoneSql = `
  SELECT id FROM events
  WHERE id = ANY ($1::uuid[]) AND id >= $2::uuid AND id <= $3::uuid AND done_at IS NULL AND parked IS NULL
  ORDER BY id FOR NO KEY UPDATE`

/** $1 executions · $2 and $3 the lowest and the highest id */
const readUnbegunSql = `
  SELECT id, suppression FROM executions
  WHERE id = ANY ($1::uuid[]) AND id >= $2::uuid AND id <= $3::uuid
    AND (status = 'suppressed' OR status = 'waiting' AND json_array_length(results) = 0)`

/** Of events that this worker may have finished by a commit whose response was lost. */
async function readUnbegun<Execution extends RecordableExecution>(
  statements: Statements,
  repeated: readonly Outcome<Execution>[],
): Promise<[Execution, ExecutionRecord][]> {
  const asking = repeated.flatMap(({ executions }) => executions.filter(({ claim }) => claim !== undefined))
  if (asking.length === 0) return []
  const ids = asking.map(({ record }) => record.id)
  const rows = await statements.run<Pick<ExecutionRecord, 'id' | 'suppression'>>(
    'read_unbegun',
    readUnbegunSql,
    [ids, ...idRangeOf(ids)],
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  return asking.flatMap((execution) => {
    const row = found.get(execution.record.id)
    return row ? [[execution, unbegunRecord(execution.record, row.suppression ?? undefined)]] : []
  })
}
