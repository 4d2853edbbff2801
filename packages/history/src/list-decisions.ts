import { Prisma, type WorkspaceDatabase, type WorkspaceTransaction } from '@automation/database'
import { decisionType } from '@automation/engine'
import type { StoredDecision } from '@automation/ledger'
import { joinConditions } from './join-conditions.js'
import { type ScannedPage, scanPage } from './scan-page.js'

/** closed: nobody has decided, and nothing will read a decision: the execution has ended or is being cancelled, or its WAIT was skipped or failed. */
export type DecisionStatus = 'open' | 'decided' | 'expired' | 'closed'

/** What a WAIT asks of a person: the config of its `decision`. */
export interface AskedDecision {
  readonly options: string[]
  readonly roles?: ('operator' | 'editor' | 'admin')[]
  readonly ask?: 'reason'[]
}

export interface DecisionRow {
  /** Of the execution. */
  id: string
  eventId: string
  ruleId: string
  ruleVersion: number
  /** In that version; null where it was removed. */
  ruleName: string | null
  status: DecisionStatus
  /** When the time is over; null where the WAIT is not reached. */
  until: Date | null
  /** null where its version of the rule asks for no decision, or was removed. */
  asked: AskedDecision | null
  decision: StoredDecision | null
}

/** How many executions a page reads whose status only their results tell: these are up to 64 KiB of JSON each, and 2 ms. */
const maxParsed = 300

/** The result of its WAIT. */
const result = Prisma.sql`(
  SELECT result FROM json_array_elements(executions.results) AS result
  WHERE result->'decision' IS NOT NULL OR result->'waitsFor'->>'eventType' = ${decisionType} LIMIT 1)`

const asking = Prisma.sql`
  FROM rule_versions CROSS JOIN json_array_elements(rule_versions.actions) WITH ORDINALITY AS actions (action, index)
  WHERE rule_versions.workspace_id = executions.workspace_id AND rule_versions.rule_id = executions.handler_id
    AND rule_versions.version = executions.rule_version
    AND action->>'type' = 'WAIT' AND action->'config'->'decision' IS NOT NULL LIMIT 1`

/** Whether its WAIT is over; asked where it has no decision. */
const isPassed = Prisma.sql`coalesce(
  executions.results->(SELECT index::int - 1 ${asking})->>'status' IN ('success', 'skipped', 'failed', 'unknown'), false)`

const status = Prisma.sql`(
  SELECT CASE WHEN executions.decision IS NOT NULL THEN 'decided'
              WHEN found.result->'decision' IS NOT NULL THEN 'expired'
              WHEN executions.finished_at IS NOT NULL OR executions.cancel_requested IS NOT NULL OR ${isPassed} THEN 'closed'
              WHEN (found.result->>'until')::timestamptz < clock_timestamp() THEN 'expired'
              ELSE 'open' END
  FROM (SELECT ${result} AS result) AS found)`

const columns = Prisma.sql`
  executions.id, executions.event_id AS "eventId", executions.handler_id AS "ruleId", executions.rule_version AS "ruleVersion",
  executions.decision, ${status} AS status, (${result}->>'until')::timestamptz AS until,
  (SELECT name FROM rule_versions
   WHERE rule_versions.workspace_id = executions.workspace_id AND rule_versions.rule_id = executions.handler_id
     AND rule_versions.version = executions.rule_version) AS "ruleName",
  (SELECT action->'config'->'decision' ${asking}) AS asked`

/** Lists the decisions that executions have waited for, those for the newest events first. */
export function listDecisions(
  database: WorkspaceDatabase,
  workspaceId: string,
  filter: { status?: DecisionStatus; ruleId?: string; executionId?: string },
  page: { before: string | undefined; limit: number },
): Promise<ScannedPage<DecisionRow>> {
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [
    Prisma.sql`executions.workspace_id = ${workspaceId}::uuid AND executions.wait_type = 'DECISION'`,
  ]
  if (filter.ruleId !== undefined) range.push(Prisma.sql`executions.handler_id = ${filter.ruleId}::uuid`)
  if (filter.executionId !== undefined) range.push(Prisma.sql`executions.id = ${filter.executionId}::uuid`)
  if (filter.status !== undefined)
    range.push(
      Prisma.sql`executions.decision IS ${filter.status === 'decided' ? Prisma.sql`NOT NULL` : Prisma.sql`NULL`}`,
    )
  // Few executions are unfinished.
  if (filter.status === 'open') range.push(Prisma.sql`executions.due_at IS NOT NULL`)
  const isInColumns = filter.status === undefined || filter.status === 'decided'
  const rest = isInColumns ? undefined : Prisma.sql`${status} = ${filter.status}`
  const narrowing = { range: joinConditions(range), rest }
  return scanPage(database, Prisma.sql`executions`, columns, narrowing, page, maxParsed)
}

/** Reads what an execution asks a person. Null where there is none. */
export async function readDecisionRow(
  database: Pick<WorkspaceTransaction, '$queryRaw'>,
  workspaceId: string,
  executionId: string,
): Promise<DecisionRow | null> {
  const [row] = await database.$queryRaw<DecisionRow[]>(Prisma.sql`
    SELECT ${columns} FROM executions
    WHERE executions.id = ${executionId}::uuid AND executions.workspace_id = ${workspaceId}::uuid`)
  return row?.asked ? row : null
}
