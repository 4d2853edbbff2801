import { type Database, postgresNow } from '@automation/database'
import { auditLedger, faultKinds, type InconsistencyKind } from '@automation/ledger'
import { createCachedReading, type Metrics } from '@automation/process/telemetry'

const hourMs = 60 * 60 * 1_000
/** The minimum retention of a workspace: older rows may already be removed. */
const minRetentionMs = 24 * hourMs
const budgetMs = 300

/**
 * Registers the gauges that report whether the ledgers of all workspaces balance: over the last hour, or over its newest
 * part if the whole hour would take too long. The reconciliation runs once a minute at most, and only when Prometheus
 * scrapes.
 */
export function registerLedgerMetrics(metrics: Metrics, findDatabase: () => Database): void {
  const read = createCachedReading(
    async () => {
      const now = postgresNow()
      const period = { from: now - hourMs, to: now + hourMs, keptSince: now - minRetentionMs, budgetMs }
      const { from, faults } = await auditLedger(findDatabase(), { workspaceId: undefined, ...period })
      return { faults, seconds: (now - from) / 1_000 }
    },
    { keepMs: 60_000, timeoutMs: 5_000, unknown: undefined },
  )
  metrics.gauges<InconsistencyKind>(
    'automation_ledger_imbalance',
    'Violations that the reconciliation found in the last hour, over all workspaces, by kind; no series if Postgres does not respond',
    'kind',
    async () => {
      const audit = await read()
      if (audit === undefined) return {}
      const none = Object.fromEntries(Object.keys(faultKinds).map((kind) => [kind, 0]))
      return { ...none, ...Object.fromEntries(audit.faults.map(({ kind, count }) => [kind, count])) }
    },
  )
  metrics.gauge(
    'automation_ledger_audited_seconds',
    'Length in seconds of the period that the reconciliation covers; less than an hour under heavy load',
    async () => (await read())?.seconds ?? Number.NaN,
  )
}
