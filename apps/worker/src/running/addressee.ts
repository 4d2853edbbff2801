import { findSubscription, subscriptionRetry } from '@automation/access'
import type { Database } from '@automation/database'
import { compileRule } from '@automation/engine'
import type { Addressee } from '@automation/ledger'
import { definitionColumns, makeReady, type ReadyRule } from './ready-rule.js'

/**
 * Finds the current state of an event's addressee: a rule that was triggered manually, active or not, or an active subscription.
 * Undefined where it was deleted.
 */
export async function findAddressee(
  database: Database,
  workspaceId: string,
  { kind, id }: Addressee,
): Promise<ReadyRule | undefined> {
  if (kind === 'subscription') {
    const subscription = await findSubscription(database, workspaceId, id)
    return subscription?.isActive ? makeReadySubscription(subscription) : undefined
  }
  const { rule } = database.forWorkspace(workspaceId)
  const row = await rule.findUnique({ where: { id }, select: definitionColumns })
  return row === null ? undefined : makeReady(row)
}

/** Presents a subscription as a rule with one action: a call with retries for about a day. */
function makeReadySubscription({ id, url }: { id: string; url: string }): ReadyRule {
  const call = { type: 'SEND_WEBHOOK' as const, config: { url }, retry: subscriptionRetry }
  return { id, name: 'Subscription', version: 1, compiled: compileRule({ conditions: [], actions: [call] }) }
}
