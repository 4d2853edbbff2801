import { type Database, idRangeOf, writeJson } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { type AddressColumns, addresseeOf } from '../addressee.js'
import { isSuspendedSql } from '../parking/is-suspended.js'
import type { StoredDecision } from '../waits/open-wait.js'
import { type HeldLease, leaseSeconds } from './leases.js'
import { type LoadedEvent, parseData, parseInTurns } from './load-events.js'
import { maxCrashes } from './poison-events.js'

/** A claimed execution, with its event, its workspace and the version of the rule that it began with. */
export interface ClaimedExecution extends Omit<LoadedEvent, 'id'> {
  executionId: string
  lease: string
  results: ActionResult[]
  startedAt: Date
  /** The rule, or the subscription of a delivery. */
  handlerId: string
  ruleVersion: number
  /** As may-run.ts says. null where the rule was deleted, and for a delivery; so are name, perKey, conditions and actions. */
  mayRun: boolean | null
  /** Somebody has cancelled it. */
  isCancelled: boolean
  name: string | null
  perKey: unknown
  conditions: unknown
  actions: unknown
  eventId: string
  interruptions: number
  reopened: number
  /** What a person has decided; null where nobody has. */
  decision: StoredDecision | null
  /** When it was claimed (epoch ms): a decision that is not there by now has a later moment. */
  claimedAt: number
  /** Of one that waited for an event (OpenWait); null where it did not. */
  waitSeen: string | null
  /** So many workers have ended with it that it is not continued: its data is empty, and so are its conditions and actions. */
  isGivenUp: boolean
}

type ClaimedRow = Omit<ClaimedExecution, 'addressee' | 'data' | 'heapBytes'> &
  AddressColumns & {
    /** JSON. */
    data: string
  }

/**
 * A claim begins a new lease. It counts an interruption unless the previous holder is not to blame: a worker that released the
 * execution left no lease, and one that held it while it awaited a slot had not begun what could have ended it. Any other holder
 * has ended, or it is alive and withdraws the count (leases.ts).
 *
 * An execution of a workspace that is suspended is not claimed: the sweeper parks it.
 *
 * What may have ended those workers is not even sent of an execution that is given up: to parse or compile that would end this one, too.
 *
 * All conditions on the id are needed: `= ANY (ARRAY(…))` makes Postgres look the rows up by their ids, and the range only in the leaves of their time. By
 * due_at, each claim would read all executions that are due.
 *
 * $1 claims · $2 seconds of a lease · $3 interruptions · $4 and $5 between which ids the executions lie
 */
const claimExecutionsSql = `
  WITH claims AS (
    SELECT * FROM json_to_recordset($1::json) AS claims (id uuid, lease uuid)
  ),
  claimed_executions AS (
    UPDATE executions SET
      lease = claims.lease,
      status = 'running',
      due_at = now() + make_interval(secs => $2::float8),
      interruptions = CASE WHEN executions.lease IS NULL THEN 0
                           WHEN awaits_slot THEN interruptions
                           ELSE interruptions + 1 END,
      lost_leases = CASE WHEN executions.lease IS NULL THEN NULL
                         WHEN awaits_slot THEN lost_leases
                         ELSE array_append(lost_leases, executions.lease) END,
      awaits_slot = NULL
    FROM claims, workspaces
    WHERE executions.id = claims.id
      AND executions.id = ANY (ARRAY(SELECT id FROM claims)) AND executions.id >= $4::uuid AND executions.id <= $5::uuid
      AND coalesce(executions.due_at, 'infinity') <= now() + interval '500 milliseconds'
      AND workspaces.id = executions.workspace_id AND NOT ${isSuspendedSql} AND executions.parked IS NULL
    RETURNING executions.*, workspaces.rules_version, workspaces.auto_pause_after, workspaces.created_by
  ),
  evaluated_executions AS (
    SELECT *, interruptions >= $3::int AS is_given_up FROM claimed_executions
  )
  SELECT c.id AS "executionId", c.wait_seen::text AS "waitSeen", c.decision, floor(date_part('epoch', clock_timestamp()) * 1000) AS "claimedAt",
         c.lease, c.interruptions, c.reopened, c.is_given_up AS "isGivenUp", c.results, c.started_at AS "startedAt",
         c.handler_id AS "handlerId", c.rule_version AS "ruleVersion", (r.is_active OR (c.id = c.event_id AND r.mode <> 'shadow')) AS "mayRun",
         coalesce(c.cancel_requested, false) AS "isCancelled",
         v.name, v.per_key AS "perKey", CASE WHEN c.is_given_up THEN '[]' ELSE v.conditions END AS conditions,
         CASE WHEN c.is_given_up THEN '[]' ELSE v.actions END AS actions,
         e.id AS "eventId", e.workspace_id AS "workspaceId", e.type,
         CASE WHEN c.is_given_up THEN '{}' ELSE e.data::text END AS data,
         e.addressee_kind AS "addresseeKind", e.addressee_id AS "addresseeId", e.depth, e.root_id AS "rootId",
         round(date_part('epoch', e.accepted_at) * 1000) AS "acceptedAt", c.rules_version AS "rulesVersion",
         c.auto_pause_after AS "autoPauseAfter", c.created_by AS "createdBy"
  FROM evaluated_executions c
  JOIN events e ON e.id = c.event_id
  LEFT JOIN rules r ON r.id = c.handler_id
  LEFT JOIN rule_versions v ON v.rule_id = c.handler_id AND v.version = c.rule_version`

/**
 * Claims executions that are due: from now on this worker holds them, as long as it renews their leases.
 *
 * @param claims each with a lease of its own
 * @returns an entry for each claim, undefined where the execution is not due: it is finished, cancelled, its workspace is suspended, or another worker was faster
 */
export async function claimExecutions(
  database: Database,
  claims: HeldLease[],
): Promise<(ClaimedExecution | undefined)[]> {
  const rows = await database.run<ClaimedRow>('claim_executions', claimExecutionsSql, [
    writeJson(claims),
    leaseSeconds,
    maxCrashes,
    ...idRangeOf(claims.map(({ id }) => id)),
  ])
  const claimed = await parseInTurns(rows, claimedOf)
  const byLease = new Map(claimed.map((execution) => [execution.lease, execution]))
  return claims.map(({ lease }) => byLease.get(lease))
}

function claimedOf({ addresseeKind, addresseeId, data, ...claimed }: ClaimedRow): ClaimedExecution {
  return {
    ...claimed,
    ...parseData(data),
    addressee: addresseeOf({ addresseeKind, addresseeId }),
  }
}
