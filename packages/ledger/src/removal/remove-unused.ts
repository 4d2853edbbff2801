import { clockSkewMs, Prisma } from '@automation/database'
import { dayMs } from './keeping-executions.js'
import type { Removal } from './removal.js'
import { createSupersededRemoval, deletedVersions, ruleStates } from './remove-superseded.js'

/** How many versions of each rule are kept, whatever their age, so that users can read and restore them. */
const versionsKept = 20
/** A worker writes a set of rules again every hour in which it is used (rule-set.ts of the worker). */
const usedAtMs = 2 * 60 * 60 * 1_000
/** How many versions one statement searches for executions. */
const searchesAtOnce = 3

/**
 * Creates the removals of versions and rule sets that no history refers to any more. Run them after history was removed. Both search
 * only events and executions from before a time, of which few are left: those kept for an unfinished execution. What versions wait for is the exception: it is
 * looked at soon after a change.
 *
 * @param now epoch ms
 * @param defaultDays for workspaces without a setting; 0: for ever
 */
export function createUnusedRemovals(now: number, defaultDays: number) {
  const age = Prisma.sql`coalesce(retention_days, nullif(${defaultDays}::int, 0)) * ${dayMs}::bigint`
  return {
    versions: createVersionRemoval(now, age),
    awaits: createAwaitsRemoval(now),
    ruleSets: createRuleSetRemoval(now, age),
    ruleStates: createSupersededRemoval(ruleStates, now, age),
    deletedVersions: createSupersededRemoval(deletedVersions, now, age),
  }
}

/**
 * Removes versions of rules that were superseded for longer than their workspace keeps history, are not among the last 20 of their
 * rule, have no stored execution, and met no stored event: that would have no explanation any more. Such an event was accepted before the
 * version was superseded, and done after it was made. Its id, and those of its executions, contain the time of its acceptance.
 */
function createVersionRemoval(now: number, age: Prisma.Sql): Removal {
  return async (transaction, size) => {
    const removed = await transaction.$executeRaw(Prisma.sql`
      DELETE FROM rule_versions WHERE (rule_id, version) IN (
        SELECT old.rule_id, old.version
        FROM rules
        JOIN workspaces ON workspaces.id = rules.workspace_id
        JOIN rule_versions AS old ON old.rule_id = rules.id AND old.version <= rules.version - ${versionsKept}::int
        CROSS JOIN LATERAL (
          SELECT extract(epoch FROM created_at) * 1000 AS ms FROM rule_versions AS next
          WHERE next.rule_id = old.rule_id AND next.version > old.version
          ORDER BY next.version LIMIT 1
        ) AS superseded
        WHERE rules.version > ${versionsKept}::int AND superseded.ms < ${now}::bigint - ${age}
          AND NOT EXISTS (
            SELECT FROM executions
            WHERE executions.handler_id = old.rule_id AND executions.rule_version = old.version
              AND executions.id < ${idAt(Prisma.sql`superseded.ms + ${clockSkewMs}`)})
          AND NOT EXISTS (
            SELECT FROM events
            WHERE events.workspace_id = old.workspace_id
              AND events.id < ${idAt(Prisma.sql`superseded.ms + ${clockSkewMs}`)}
              AND (events.done_at > old.created_at - make_interval(secs => ${clockSkewMs / 1_000})) IS NOT FALSE)
        LIMIT ${size} FOR UPDATE OF old SKIP LOCKED)`)
    return { removed, isOver: removed < size }
  }
}

/**
 * Forgets what versions of rules wait for, since each event has keys for it: of those that were superseded, as soon as no execution of them is unfinished or
 * could be retried. A worker may still be about to record one of an hour ago. Each search may read all that a workspace has not done, so a statement has
 * few of them, in an order that differs each time: what takes too long in one workspace does not hold up the others for good.
 */
function createAwaitsRemoval(now: number): Removal {
  let last = '-9223372036854775808'
  return async (transaction) => {
    const [seen] = await transaction.$queryRaw<{ drawn: number; removed: number; last: string }[]>(Prisma.sql`
      WITH superseded AS (
        SELECT old.rule_id, old.version, old.workspace_id, ms,
               hashtextextended(old.rule_id::text || ' ' || old.version::text, ${now}::bigint) AS place
        FROM rule_versions AS old
        CROSS JOIN LATERAL (
          SELECT extract(epoch FROM created_at) * 1000 AS ms FROM rule_versions AS next
          WHERE next.rule_id = old.rule_id AND next.version > old.version
          ORDER BY next.version LIMIT 1
        ) AS next
        WHERE old.awaits IS NOT NULL AND ms < ${now - clockSkewMs}::bigint
      ),
      drawn AS MATERIALIZED (
        SELECT * FROM superseded WHERE place > ${last}::bigint ORDER BY place LIMIT ${searchesAtOnce}
      ),
      forgotten AS (
        UPDATE rule_versions SET awaits = NULL FROM drawn
        WHERE rule_versions.rule_id = drawn.rule_id AND rule_versions.version = drawn.version
          AND NOT EXISTS (
            SELECT FROM executions
            WHERE executions.workspace_id = drawn.workspace_id AND executions.status <> 'succeeded'
              AND executions.status <> 'suppressed'
              AND executions.handler_id = drawn.rule_id AND executions.rule_version = drawn.version
              AND executions.id < ${idAt(Prisma.sql`drawn.ms + ${clockSkewMs}`)})
        RETURNING 1
      )
      SELECT (SELECT count(*)::int FROM drawn) AS drawn, (SELECT count(*)::int FROM forgotten) AS removed,
             (SELECT max(place)::text FROM drawn) AS last`)
    const { drawn = 0, removed = 0 } = seen ?? {}
    last = seen?.last ?? last
    return { removed, isOver: drawn < searchesAtOnce }
  }
}

/** Removes sets of rules that are not in use and that no stored event refers to. */
function createRuleSetRemoval(now: number, age: Prisma.Sql): Removal {
  return async (transaction, size) => {
    const removed = await transaction.$executeRaw(Prisma.sql`
      DELETE FROM rule_sets WHERE (workspace_id, id) IN (
        SELECT old.workspace_id, old.id
        FROM rule_sets AS old
        JOIN workspaces ON workspaces.id = old.workspace_id
        CROSS JOIN LATERAL (
          SELECT ${now - clockSkewMs - usedAtMs}::bigint - ${age} AS ms
        ) AS border
        WHERE old.used_at < to_timestamp(border.ms / 1000.0)
          AND NOT EXISTS (
            SELECT FROM events
            WHERE events.workspace_id = old.workspace_id AND events.rule_set_id = old.id
              AND events.id < ${idAt(Prisma.sql`extract(epoch FROM old.used_at) * 1000 + ${usedAtMs}`)})
        LIMIT ${size} FOR UPDATE OF old SKIP LOCKED)`)
    return { removed, isOver: removed < size }
  }
}

/** The highest id of a time (ms). */
function idAt(ms: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(lpad(to_hex((${ms})::bigint), 12, '0') || 'ffffffffffffffffffff')::uuid`
}
