import { findSubscription, subscriptionRetry } from '@automation/access'
import type { Database } from '@automation/database'
import { type Addressee, type LoadedEvent, mayRunSql } from '@automation/ledger'
import { makeReady, type ReadyRule, type RuleRow } from '../executions/ready-rule.js'

/**
 * Finds the current state of an event's addressee: a rule that was triggered manually, active or not, one whose schedule has a tick, or an active
 * subscription. Undefined where it was deleted, is a shadow by now, or has no schedule any more: that does nothing.
 */
export async function findAddressee(
  database: Database,
  { workspaceId, rulesVersion }: Pick<LoadedEvent, 'workspaceId' | 'rulesVersion'>,
  addressee: Addressee,
): Promise<{ rule: ReadyRule | undefined; rulesVersion: number }> {
  const { kind, id } = addressee
  if (kind === 'subscription') {
    const subscription = await findSubscription(database, workspaceId, id)
    return { rule: subscription?.isActive ? makeReadySubscription(subscription) : undefined, rulesVersion }
  }
  const [row] = await database.run<AddresseeRow>('find_addressee', findAddresseeSql, [
    workspaceId,
    id,
    kind === 'rule',
  ])
  if (row === undefined || row.id === null) return { rule: undefined, rulesVersion }
  return { rule: makeReady({ ...row, id: row.id }), rulesVersion: row.rulesVersion }
}

interface AddresseeRow extends Omit<RuleRow, 'id'> {
  rulesVersion: number
  /** null where the rule was deleted, or may not run. */
  id: string | null
}

/** $1 workspace · $2 rule · $3 whether it was requested by hand. One statement: the rule is as it was at that version of the workspace's rules. */
const findAddresseeSql = `
  SELECT w.rules_version AS "rulesVersion", r.id, r.name, r.version, r.per_key AS "perKey", r.conditions, r.actions
  FROM workspaces w
  LEFT JOIN rules r ON r.workspace_id = w.id AND r.id = $2::uuid AND ${mayRunSql('r', '$3::boolean')}
    AND ($3::boolean OR r.schedule IS NOT NULL)
  WHERE w.id = $1::uuid`

/** Presents a subscription as a rule with one action: a call with retries for about a day. */
function makeReadySubscription({ id, url }: { id: string; url: string }): ReadyRule {
  const call = { type: 'SEND_WEBHOOK' as const, config: { url }, retry: subscriptionRetry }
  return makeReady({ id, name: 'Subscription', version: 1, conditions: [], actions: [call] })
}
