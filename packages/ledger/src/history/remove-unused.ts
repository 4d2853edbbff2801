import { clockSkewMs, Prisma } from '@automation/database'
import type { Removal } from './removal.js'
import { dayMs } from './remove-history.js'

/** Of each rule, whatever their age, to be looked at and restored. */
const versionsKept = 20
/** A set of rules is written down anew every hour in which it is used (rule-sets.ts). */
const usedAtMs = 2 * 60 * 60 * 1_000

/**
 * Remove what history needed and needs no more: it is asked after history was removed, so that what is left of it says so.
 * Both look at events and executions from before a time alone, of which few are left: those that are kept for a run that waits.
 *
 * @param now epoch ms @param defaultDays for workspaces that say nothing; 0: for ever
 */
export function createUnusedRemovals(now: number, defaultDays: number) {
  const age = Prisma.sql`coalesce(retention_days, nullif(${defaultDays}::int, 0)) * ${dayMs}::bigint`
  return { versions: createVersionRemoval(now, age), ruleSets: createRuleSetRemoval(now, age) }
}

/**
 * Definitions of rules, superseded for as long as their workspace keeps history, beyond the last 20 of their rule, and of no
 * execution that is kept: that would be of an event from before the definition was superseded, and its id carries its time.
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
        LIMIT ${size} FOR UPDATE OF old SKIP LOCKED)`)
    return { removed, isOver: removed < size }
  }
}

/** Sets of rules that no event has considered since. */
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
