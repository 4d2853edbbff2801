import { Prisma, writeJson } from '@automation/database'
import { type Inconsistency, maxIds, type Slice, type Snapshot, withinSlice } from './slice.js'

/** How many executions of each rule have succeeded and failed, summed over slices. */
export type RuleTally = Map<string, { successes: number; failures: number }>

export async function tallyRules(snapshot: Snapshot, slice: Slice, tally: RuleTally): Promise<void> {
  const rows = await snapshot.$queryRaw<{ ruleId: string; successes: number; failures: number }[]>(Prisma.sql`
    SELECT handler_id AS "ruleId", count(*) FILTER (WHERE status = 'succeeded')::int AS successes,
           count(*) FILTER (WHERE status = 'failed')::int AS failures
    FROM executions
    WHERE ${withinSlice(slice)}
    GROUP BY handler_id`)
  for (const { ruleId, successes, failures } of rows) {
    const known = tally.get(ruleId)
    tally.set(ruleId, {
      successes: successes + (known?.successes ?? 0),
      failures: failures + (known?.failures ?? 0),
    })
  }
}

/**
 * Compares a tally with the counters of its rules. Counters include all times, so the counters of a rule must not be lower than its
 * tally for a part of the time. Missing counters count as 0. Deleted rules have no counters, and need none.
 */
export async function compareCounters(
  snapshot: Snapshot,
  workspaceId: string | undefined,
  tally: RuleTally,
): Promise<Inconsistency[]> {
  const rows = [...tally].map(([id, { successes, failures }]) => ({ id, successes, failures }))
  const own =
    workspaceId === undefined ? Prisma.empty : Prisma.sql`AND rules.workspace_id = ${workspaceId}::uuid`
  const behind = await snapshot.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT rules.id
    FROM json_to_recordset(${writeJson(rows)}::json) AS counted (id uuid, successes bigint, failures bigint)
    JOIN rules ON rules.id = counted.id ${own}
    LEFT JOIN rule_counters ON rule_counters.rule_id = rules.id
    WHERE coalesce(success_count, 0) < successes OR coalesce(failure_count, 0) < failures
    ORDER BY rules.id`)
  return [{ kind: 'counter_behind', count: behind.length, ids: behind.slice(0, maxIds).map(({ id }) => id) }]
}
