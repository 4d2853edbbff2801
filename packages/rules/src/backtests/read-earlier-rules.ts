import type { BacktestSubject, EarlierRule } from '@automation/backtest'
import { Prisma, type UnscopedSql } from '@automation/database'
import { chargingOperators, quantifiers } from '@automation/engine'

/** A backtest keeps so many of them, with so much JSON: it compiles them in each slice. */
const maxEarlier = 100
const maxEarlierBytes = 65_536

/**
 * Reads the active rules that a worker evaluates before the tested one, in that order, as far as they can use up what it may cost to evaluate an event.
 *
 * @returns the first of them, where there are more than can be simulated
 */
export async function readEarlierRules(
  database: UnscopedSql,
  workspaceId: string,
  { ruleId, active, draft }: Pick<BacktestSubject, 'ruleId' | 'active' | 'draft'>,
): Promise<EarlierRule[]> {
  const types = [active?.definition.trigger, draft?.trigger].filter((type) => type !== undefined)
  // A definition without a rule would be the newest one.
  const isBefore = ruleId === undefined ? Prisma.sql`true` : Prisma.sql`id < ${ruleId}::uuid`
  const names = [...chargingOperators, ...quantifiers].map((name) => `%"${name}"%`)
  return database.$queryRaw<EarlierRule[]>(Prisma.sql`
    WITH earlier_rules AS (
      SELECT id, trigger, conditions FROM rules
      WHERE workspace_id = ${workspaceId}::uuid AND trigger = ANY (${types}) AND is_active AND ${isBefore}
        AND conditions::text LIKE ANY (${names})
      ORDER BY id LIMIT ${maxEarlier}
    ),
    sums AS (
      SELECT id, trigger, conditions, sum(octet_length(conditions::text)) OVER (ORDER BY id) AS bytes FROM earlier_rules
    )
    SELECT trigger, conditions FROM sums WHERE bytes <= ${maxEarlierBytes} ORDER BY id`)
}
