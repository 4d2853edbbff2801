import { type Database, firstIdOf, Prisma, timeOf } from '@automation/database'
import { holdLeaves } from '../leaves/hold-leaves.js'
import { compareTicks } from './compare-ticks.js'
import { countEffects, type EffectCounts, findStrayTasks } from './count-effects.js'
import { countEvents, type EventCounts } from './count-events.js'
import { countExecutions, type ExecutionCounts } from './count-executions.js'
import { countReceipts, type ReceiptCounts } from './count-receipts.js'
import { compareCounters, type RuleTally, tallyRules } from './count-rules.js'
import { findStrayClaims } from './find-stray-claims.js'
import { findSliceStart, type Inconsistency, maxIds, type Slice, type Snapshot } from './slice.js'

/** Times are epoch ms. */
export interface AuditRequest {
  /** undefined: all workspaces. */
  workspaceId: string | undefined
  from: number
  to: number
  /** Older rows may have been removed by retention. */
  keptSince: number
  /** No slice begins after this time. */
  budgetMs: number
}

export interface Audit {
  /** The start of the counted time: later than requested where the budget did not suffice. */
  from: number
  receipts: ReceiptCounts
  events: EventCounts
  executions: ExecutionCounts
  effects: EffectCounts
  /** Violations; empty where the books balance. */
  faults: Inconsistency[]
}

const longestMs = 10_000

/**
 * Reconciles the books: accepted events with executions, and executions with their effects. All statements read one snapshot of
 * Postgres, which is the truth, so a write under way is no fault. The reconciliation goes backwards from the newest rows, in slices
 * of some thousand rows by their ids, until the budget is used up.
 */
export function auditLedger(database: Database, request: AuditRequest): Promise<Audit> {
  return database.system.$transaction((snapshot) => walk(snapshot, request), {
    isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead,
    timeout: longestMs,
  })
}

async function walk(snapshot: Snapshot, request: AuditRequest): Promise<Audit> {
  await holdLeaves(snapshot)
  const { workspaceId, budgetMs } = request
  const deadline = performance.now() + budgetMs
  const audit = emptyAudit(request.to)
  const rules: RuleTally = new Map()
  while (audit.from > request.from && performance.now() < deadline) {
    const whole: Slice = {
      workspaceId,
      from: firstIdOf(request.from),
      to: firstIdOf(audit.from),
      keptSince: firstIdOf(request.keptSince),
    }
    const slice = { ...whole, from: await findSliceStart(snapshot, whole) }
    await auditSlice(snapshot, slice, audit)
    await tallyRules(snapshot, slice, rules)
    audit.from = timeOf(slice.from)
  }
  note(audit, await compareCounters(snapshot, workspaceId, rules))
  note(audit, await compareTicks(snapshot, workspaceId, { from: audit.from, to: request.to }))
  return audit
}

async function auditSlice(snapshot: Snapshot, slice: Slice, audit: Audit): Promise<void> {
  addUp(audit, audit.receipts, await countReceipts(snapshot, slice))
  addUp(audit, audit.events, await countEvents(snapshot, slice))
  addUp(audit, audit.executions, await countExecutions(snapshot, slice))
  addUp(audit, audit.effects, await countEffects(snapshot, slice))
  note(audit, await findStrayTasks(snapshot, slice))
  note(audit, await findStrayClaims(snapshot, slice))
}

function addUp(audit: Audit, sums: object, { faults, ...counts }: { faults: Inconsistency[] }): void {
  const totals = sums as Record<string, number>
  for (const [name, count] of Object.entries(counts as Record<string, number>))
    totals[name] = (totals[name] ?? 0) + count
  note(audit, faults)
}

function note(audit: Audit, faults: Inconsistency[]): void {
  for (const { kind, count, ids } of faults) {
    if (count === 0) continue
    const known = audit.faults.find((fault) => fault.kind === kind)
    if (known === undefined) audit.faults.push({ kind, count, ids })
    else {
      known.count += count
      known.ids = [...known.ids, ...ids].slice(0, maxIds)
    }
  }
}

function emptyAudit(from: number): Audit {
  return {
    from,
    receipts: { accepted: 0, events: 0 },
    events: {
      fromOutside: 0,
      replayed: 0,
      emitted: 0,
      service: 0,
      done: 0,
      quarantined: 0,
      waiting: 0,
      overdue: 0,
    },
    executions: {
      succeeded: 0,
      failed: 0,
      cancelled: 0,
      suppressed: 0,
      waiting: 0,
      leased: 0,
      overdue: 0,
      deliveriesSucceeded: 0,
      deliveriesFailed: 0,
      deliveriesCancelled: 0,
      deliveriesUnfinished: 0,
    },
    effects: {
      tasks: 0,
      emittedEvents: 0,
      callsSucceeded: 0,
      callsFailed: 0,
      callsUnknown: 0,
      callsOpen: 0,
    },
    faults: [],
  }
}
