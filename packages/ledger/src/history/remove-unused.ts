import { clockSkewMs, Prisma } from '@automation/database'
import type { Removal } from './removal.js'
import { dayMs } from './remove-history.js'
import { createSupersededRemoval, deletedVersions, ruleStates } from './remove-superseded.js'

/** How many versions of each rule are kept, whatever their age, so that users can read and restore them. */
const versionsKept = 20
/** A worker writes a set of rules again every hour in which it is used (rule-set.ts of the worker). */
const usedAtMs = 2 * 60 * 60 * 1_000

/**
 * Creates the removals of versions and rule sets that no history refers to any more. Run them after history was removed. Both search
 * only events and executions from before a time, of which few are left: those kept for an unfinished execution.
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
            WHERE executions.rule_id = old.rule_id AND executions.rule_version = old.version
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
 * could be retried. A worker may still be about to record one of an hour ago.
 */
function createAwaitsRemoval(now: number): Removal {
  return async (transaction, size) => {
    const removed = await transaction.$executeRaw(Prisma.sql`
      UPDATE rule_versions SET awaits = NULL WHERE (rule_id, version) IN (
        SELECT old.rule_id, old.version
        FROM rule_versions AS old
        CROSS JOIN LATERAL (
          SELECT extract(epoch FROM created_at) * 1000 AS ms FROM rule_versions AS next
          WHERE next.rule_id = old.rule_id AND next.version > old.version
          ORDER BY next.version LIMIT 1
        ) AS superseded
        WHERE old.awaits IS NOT NULL AND superseded.ms < ${now - clockSkewMs}::bigint
          AND NOT EXISTS (
            SELECT FROM executions
            WHERE executions.workspace_id = old.workspace_id AND executions.status <> 'succeeded'
              AND executions.status <> 'suppressed'
              AND executions.rule_id = old.rule_id AND executions.rule_version = old.version
              AND executions.id < ${idAt(Prisma.sql`superseded.ms + ${clockSkewMs}`)})
        LIMIT ${size} FOR UPDATE OF old SKIP LOCKED)`)
    return { removed, isOver: removed < size }
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
