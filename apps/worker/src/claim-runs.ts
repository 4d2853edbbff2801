import { type Database, groupCommit, newId } from '@automation/database'
import { type ActionResult, isServiceEvent } from '@automation/engine'
import { LRUCache } from 'lru-cache'
import { findAddressee } from './addressee.js'
import type { LoadedEvent } from './load-events.js'
import { makeReady, type ReadyRule } from './ready-rule.js'
import { leaseSeconds } from './record-outcomes.js'
import type { Step } from './record-steps.js'
import { endRun, type Run } from './run.js'

interface ClaimedRow {
  executionId: string
  lease: string
  results: ActionResult[]
  startedAt: Date
  ruleId: string
  ruleVersion: number
  isRuleActive: boolean | null
  name: string | null
  conditions: unknown
  actions: unknown
  eventId: string
  workspaceId: string
  type: string
  data: object
  eventRuleId: string | null
  depth: number
  rulesVersion: number
  autoPauseAfter: number | null
  interruptions: number
}

const maxCompiled = 20_000

/**
 * Takes up an execution that is due: from now on it is this worker's, as long as it gives a sign of life. Undefined where it
 * is not due, because it is finished, cancelled, or another worker was faster.
 */
export function createClaims(database: Database): (executionId: string) => Promise<Step | undefined> {
  // A version never changes, so what was compiled of it stays right.
  const compiled = new LRUCache<string, ReadyRule>({ max: maxCompiled })
  const claim = groupCommit(async (ids: string[]) => {
    const claims = ids.map((id) => ({ id, lease: newId() }))
    const rows = await database.run<ClaimedRow>('claim_runs', statement, [JSON.stringify(claims)])
    const byLease = new Map(rows.map((row) => [row.lease, row]))
    return claims.map(({ lease }) => byLease.get(lease))
  })

  return async (executionId) => {
    const row = await claim(executionId)
    return row && { run: takeUp(row, await findVersion(row)), lease: row.lease }
  }

  async function findVersion(row: ClaimedRow): Promise<ReadyRule | undefined> {
    if (isServiceEvent(row.type)) return findAddressee(database, eventOf(row), row.ruleId)
    if (row.name === null) return undefined
    const key = `${row.ruleId} ${row.ruleVersion}`
    const known = compiled.get(key)
    if (known) return known
    const rule = makeReady({ ...row, name: row.name, id: row.ruleId, version: row.ruleVersion })
    compiled.set(key, rule)
    return rule
  }
}

function takeUp(row: ClaimedRow, rule: ReadyRule | undefined): Run {
  const run: Run = {
    executionId: row.executionId,
    rule: rule ?? { id: row.ruleId, name: '', version: row.ruleVersion, compiled: { fault: '' } },
    event: eventOf(row),
    status: 'running',
    error: null,
    results: row.results,
    startedAt: row.startedAt,
    finishedAt: null,
    dueAt: null,
    lease: row.lease,
    interruptions: row.interruptions,
    attention: null,
    tasks: [],
    emitted: [],
  }
  if (rule === undefined)
    cancel(run, isServiceEvent(row.type) ? 'The subscription is gone' : 'The rule was deleted')
  // Executed by hand, a rule runs active or not.
  else if (row.isRuleActive === false && row.eventRuleId === null) cancel(run, 'The rule was switched off')
  return run
}

function cancel(run: Run, reason: string): void {
  endRun(run, 'cancelled')
  run.error = reason
}

function eventOf(row: ClaimedRow): LoadedEvent {
  return {
    id: row.eventId,
    workspaceId: row.workspaceId,
    type: row.type,
    data: row.data,
    ruleId: row.eventRuleId,
    depth: row.depth,
    rulesVersion: row.rulesVersion,
    autoPauseAfter: row.autoPauseAfter,
    crashes: 0,
  }
}

const statement = `
  WITH claimed AS (
    UPDATE executions SET
      lease = new.lease, status = 'running', due_at = now() + make_interval(secs => ${leaseSeconds}),
      -- A worker that released it left no lease. One that held it in line had not begun what could have ended it. Any other
      -- has ended, or is alive and takes its count back (leases.ts).
      interruptions = CASE WHEN executions.lease IS NULL THEN 0 WHEN awaits_slot THEN interruptions
                           ELSE interruptions + 1 END,
      lost_leases = CASE WHEN executions.lease IS NULL THEN NULL WHEN awaits_slot THEN lost_leases
                         ELSE array_append(lost_leases, executions.lease) END,
      awaits_slot = NULL
    FROM json_to_recordset($1::json) AS new (id uuid, lease uuid)
    WHERE executions.id = new.id
      -- Written so that they are looked up by their ids: by due_at, each claim would read all that is due.
      AND executions.id = ANY (ARRAY(SELECT id FROM json_to_recordset($1::json) AS known (id uuid)))
      AND coalesce(executions.due_at, 'infinity') <= now() + interval '500 milliseconds'
    RETURNING executions.*
  )
  SELECT c.id AS "executionId", c.lease, c.interruptions, c.results, c.started_at AS "startedAt",
         c.rule_id AS "ruleId", c.rule_version AS "ruleVersion", r.is_active AS "isRuleActive",
         v.name, v.conditions, v.actions,
         e.id AS "eventId", e.workspace_id AS "workspaceId", e.type, e.data, e.rule_id AS "eventRuleId", e.depth,
         w.rules_version AS "rulesVersion", w.auto_pause_after AS "autoPauseAfter"
  FROM claimed c
  JOIN events e ON e.id = c.event_id
  JOIN workspaces w ON w.id = c.workspace_id
  LEFT JOIN rules r ON r.id = c.rule_id
  LEFT JOIN rule_versions v ON v.rule_id = c.rule_id AND v.version = c.rule_version`
