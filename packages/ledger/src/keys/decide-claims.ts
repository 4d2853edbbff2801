import { postgresNow, type Statements, taskIdOf } from '@automation/database'
import { type Batch, decide, isBefore, type KeyEvent } from '@automation/engine'
import type { ExecutionRecord, KeyToClaim, RecordableExecution } from '../outcomes/execution-record.js'
import type { Outcome } from '../outcomes/finish-events.js'
import type { NewClaim, SuppressedExecution } from './key-claims.js'
import { readKeyStates, type StoredKeyState } from './key-states.js'
import { neverDue } from './never-due.js'
import { lockReplaceable, type Replacement } from './replace-executions.js'

type Asking<Execution> = Execution & { claim: KeyToClaim }

/**
 * Decides about the executions that ask for a key, in the order of their events, under the locks of the keys.
 *
 * @param open the events that this commit finishes
 * @returns what to record, and `records` of the executions that have not begun
 */
export async function decideClaims<Execution extends RecordableExecution>(
  statements: Statements,
  outcomes: readonly Outcome<Execution>[],
  open: ReadonlyMap<string, unknown>,
) {
  const undecided = outcomes
    .filter((outcome) => open.get(outcome.event.id) === outcome)
    .flatMap(({ executions }) => executions)
    .filter((execution): execution is Asking<Execution> => execution.claim !== undefined)
    .sort((one, other) => (isBefore(keyEventOf(one), keyEventOf(other)) ? -1 : 1))
  const asked = undecided.map(({ claim, event }) => ({ ...claim, at: event.acceptedAt }))
  const replacing = asked.filter(({ perKey }) => perKey.whileRunning === 'replace')
  if (replacing.length > 0) await lockReplaceable(statements, replacing, outcomes)
  const states = await readKeyStates(statements, asked)
  const heldAt = new Date(postgresNow())
  const records = new Map<Execution, ExecutionRecord>()
  const suppressed: SuppressedExecution[] = []
  const claims: NewClaim[] = []
  const consumed: string[] = []
  const replaced: Replacement[] = []
  const opened: NewClaim[] = []
  for (const execution of undecided) {
    const { keyId, key, perKey } = execution.claim
    const state = states.get(keyId) as StoredKeyState
    const event = keyEventOf(execution)
    // A batch runs as the version of the rule says that opened it.
    const batches = state.batches.filter(({ ruleVersion }) => ruleVersion === execution.record.ruleVersion)
    const decision = decide(perKey, key, { ...state, batches }, event)
    const claim = claimOf(execution, decision)
    noteReplaced(state, decision.replaced)
    noteClaim(state, event, claim, decision.consumed)
    replaced.push(...decision.replaced.map(({ executionId: id }) => ({ id, by: event.executionId })))
    consumed.push(...decision.consumed.map(({ executionId }) => executionId))
    claims.push(claim)
    const { suppression } = decision
    if (suppression) suppressed.push({ execution, suppression })
    if (decision.kind === 'run') dateFrom(heldAt, execution)
    else records.set(execution, unbegunRecord(execution.record, suppression))
    if (claim.place === 'collects') opened.push(claim)
  }
  // Later events of the commit may have moved their ends.
  for (const { execution, batch } of opened) {
    const record = records.get(execution as Execution)
    if (record && batch) record.dueAt = new Date(batch.endsAt)
  }
  const outcomeOf = (outcome: Outcome<Execution>): Outcome<Execution> => {
    if (open.get(outcome.event.id) !== outcome) return outcome
    const executions = outcome.executions.flatMap((execution) => {
      const record = records.get(execution)
      if (record === undefined) return execution
      return record.suppression ? [] : { ...execution, record, tasks: [], emitted: [] }
    })
    return { ...outcome, executions }
  }
  return {
    outcomeOf,
    records,
    suppressed,
    claims: claims.flatMap((claim) => settle(claim, consumed)),
    consumed,
    replaced,
    moved: [...states.values()].flatMap(({ batches }) =>
      batches.filter(({ storedEnd, endsAt }) => storedEnd !== undefined && storedEnd !== endsAt),
    ),
  }
}

/** It was prepared before it had its key: none of its tasks is older than that, so that none is older than those of the execution before it. */
function dateFrom(heldAt: Date, { record, tasks }: RecordableExecution): void {
  for (const task of tasks) {
    const lateMs = Math.max(0, heldAt.getTime() - task.createdAt.getTime())
    task.createdAt = new Date(task.createdAt.getTime() + lateMs)
    task.id = taskIdOf(record, task.actionIndex, task.createdAt)
    if (task.dueAt) task.dueAt = new Date(task.dueAt.getTime() + lateMs)
  }
  if (record.finishedAt && record.finishedAt < heldAt) record.finishedAt = heldAt
}

function keyEventOf({ record, event }: RecordableExecution): KeyEvent {
  return { at: event.acceptedAt, eventId: event.id, executionId: record.id }
}

function claimOf(
  execution: Asking<RecordableExecution>,
  { kind, isCounted, batch }: ReturnType<typeof decide>,
): NewClaim {
  const { keyId, perKey } = execution.claim
  const waits = batch === undefined ? 'queued' : 'collects'
  const place = kind === 'wait' ? waits : kind === 'run' && perKey.whileRunning ? 'holds' : null
  const windowMs = Math.max(perKey.atMost?.per ?? 0, perKey.atLeast?.within ?? 0)
  const isGranted = kind !== 'suppressed' && perKey.atMost !== undefined
  const isExclusive = perKey.whileRunning !== undefined && kind !== 'suppressed'
  return { execution, keyId, isGranted, isCounted, place, batch, isExclusive, windowMs }
}

/** An event may be used up by a later one of the same commit. @returns the claim, if anything is left of it */
function settle(claim: NewClaim, consumed: readonly string[]): NewClaim[] {
  const isCounted = claim.isCounted && !consumed.includes(claim.execution.record.id)
  const isKept = claim.isGranted || isCounted || claim.place !== null || claim.batch !== undefined
  return isKept ? [{ ...claim, isCounted }] : []
}

/** What waited is over. What is in progress holds the key until it has ended. */
function noteReplaced(state: StoredKeyState, replaced: readonly KeyEvent[]): void {
  if (replaced.length === 0) return
  state.queue = []
  if (state.holder?.isWaiting) state.holder = undefined
}

/** The next events of the commit find what this one has claimed. */
function noteClaim(
  state: StoredKeyState,
  event: KeyEvent,
  { execution, isGranted, isCounted, place, batch }: NewClaim,
  consumed: readonly KeyEvent[],
): void {
  const used = new Set(consumed.map(({ executionId }) => executionId))
  state.counted = state.counted.filter(({ executionId }) => !used.has(executionId))
  if (isCounted) state.counted.push(event)
  if (isGranted) state.granted.push(event)
  if (place === 'queued') state.queue.push(event)
  if (place === 'collects' && batch) noteBatch(state, batch, execution.record.ruleVersion)
  // One that is finished in this commit holds nothing after it.
  if (place === 'holds' && execution.record.finishedAt === null)
    state.holder = { ...event, isWaiting: execution.record.lease === null }
}

/** Of one that this commit opens, no end is stored yet. */
function noteBatch(state: StoredKeyState, batch: Batch, ruleVersion: number): void {
  state.collecting += 1
  // The same object: further events of the commit change it.
  state.batches.push(Object.assign(batch, { ruleVersion, storedEnd: undefined }))
  state.batches.sort((one, other) => one.endsAt - other.endsAt)
}

/** An execution that has not begun: what its worker has prepared for it is dropped. */
export function unbegunRecord(
  record: ExecutionRecord,
  suppression: ExecutionRecord['suppression'],
): ExecutionRecord {
  const { wait: _, ...own } = record
  const clean = { ...own, error: null, results: [], lease: null, awaitsSlot: false, attention: null }
  return suppression
    ? { ...clean, status: 'suppressed', suppression, finishedAt: new Date(postgresNow()), dueAt: null }
    : { ...clean, status: 'waiting', finishedAt: null, dueAt: neverDue }
}
