import type { Database } from '@automation/database'
import { auditLedger, type FaultKind, faultKinds } from '@automation/ledger'
import { createReading, type Metrics } from '@automation/telemetry'

const hourMs = 60 * 60 * 1_000
/** The least that a workspace keeps: what is older may be gone. */
const keptMs = 24 * hourMs
const budgetMs = 300

/**
 * Tells Prometheus whether the books of all workspaces are in balance: of the last hour, or of its newest part where so
 * much happens that it would take longer. Looked into once a minute at most, and only where somebody scrapes.
 */
export function tellLedger(metrics: Metrics, findDatabase: () => Database): void {
  const read = createReading(
    async () => {
      const now = Date.now()
      const asked = { from: now - hourMs, to: now + hourMs, keptSince: now - keptMs, budgetMs }
      const { from, faults } = await auditLedger(findDatabase(), { workspaceId: undefined, ...asked })
      return { faults, seconds: (now - from) / 1_000 }
    },
    { keepMs: 60_000, giveUpMs: 5_000, unknown: undefined },
  )
  metrics.gauges<FaultKind>(
    'automation_ledger_imbalance',
    'What must not be, of all workspaces in the last hour, by its kind; none where Postgres does not say',
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
    'How far back the imbalance is told: less than an hour where much happens',
    async () => (await read())?.seconds ?? Number.NaN,
  )
}
