import { isDeepStrictEqual } from 'node:util'
import {
  type Database,
  isUuid,
  newId,
  type Prisma,
  postgresNow,
  type WorkspaceTransaction,
} from '@automation/database'
import { httpUrl, type Retry } from '@automation/engine'
import { cancelWaiting, isBeingCancelled } from '@automation/ledger'
import { newSigningSecret } from '@automation/webhooks'
import type { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { Refused } from './refused.js'
import type { Sealer } from './sealing.js'
import { deliverTo, pingType, type ServiceEventType } from './service-events.js'
import { addSigningSecret } from './signing-secrets.js'
import type {
  NewSubscription,
  Subscription,
  SubscriptionToCreate,
  SubscriptionToUpdate,
} from './subscription-schemas.js'

/** The retries of a delivery: the last one after 11 hours on average, and 21 at most. */
export const subscriptionRetry = {
  attempts: 15,
  backoff: 'exponential',
  delayMs: 5_000,
  maxDelayMs: 36_000_000,
} as const satisfies Retry

export const maxSubscriptions = 20

/** @throws Refused for a URL that cannot be called, or where the workspace has 20 subscriptions */
export function createSubscription(
  administrator: Administrator,
  sealer: Sealer,
  { url, eventTypes, description = '', isActive = true }: Type.Static<typeof SubscriptionToCreate>,
): Promise<NewSubscription> {
  const { workspaceId } = administrator
  const id = newId()
  const secret = newSigningSecret()
  return changeWorkspace(administrator, async (transaction) => {
    refuseFaultyUrl(url)
    if ((await transaction.subscription.count()) >= maxSubscriptions)
      throw new Refused('limit_reached', `A workspace may have ${maxSubscriptions} subscriptions`)
    const data = { id, workspaceId, url, description, eventTypes, isActive }
    const row = await transaction.subscription.create({ data })
    const secretFields = { workspaceId, direction: 'outgoing', provider: id } as const
    const { id: secretId } = await addSigningSecret(transaction, sealer, secretFields, secret)
    return {
      result: { ...presentSubscription(row), secret },
      entry: {
        action: 'subscription.created',
        subject: id,
        details: { url, eventTypes, isActive, secretId },
      },
    }
  })
}

/** Lists all subscriptions of a workspace, the newest first. */
export async function listSubscriptions(database: Database, workspaceId: string): Promise<Subscription[]> {
  const rows = await database.forWorkspace(workspaceId).subscription.findMany({ orderBy: { id: 'desc' } })
  return rows.map(presentSubscription)
}

/** @returns null where the workspace has no subscription with this id */
export async function findSubscription(
  database: Database,
  workspaceId: string,
  id: string,
): Promise<Subscription | null> {
  const { subscription } = database.forWorkspace(workspaceId)
  const row = isUuid(id) ? await subscription.findUnique({ where: { id } }) : null
  return row && presentSubscription(row)
}

/** @throws Refused where there is no such subscription */
export async function readSubscription(
  database: Pick<WorkspaceTransaction, 'subscription'>,
  id: string,
): Promise<Subscription> {
  return presentSubscription(await findRow(database, id))
}

/** Deliveries that wait go to a new URL. @throws Refused where there is no such subscription, or for a URL that cannot be called */
export function updateSubscription(
  administrator: Administrator,
  id: string,
  changes: Type.Static<typeof SubscriptionToUpdate>,
): Promise<Subscription> {
  return changeWorkspace(administrator, async (transaction) => {
    const before = await findRow(transaction, id)
    if (changes.url !== undefined) refuseFaultyUrl(changes.url)
    const changed = Object.entries(changes).filter(
      ([name, value]) => !isDeepStrictEqual(before[name as keyof Row], value),
    )
    if (changed.length === 0) return { result: presentSubscription(before), entry: undefined }
    if (changes.isActive && (await isBeingCancelled(transaction, [before.id])))
      throw new Refused('still_cancelling', 'Deliveries are still being cancelled: try again in a moment')
    const row = await transaction.subscription.update({ where: { id }, data: changes })
    const isSwitchedOff = before.isActive && !row.isActive
    const cancelled = isSwitchedOff
      ? await cancelDeliveries(transaction, row, 'The subscription was switched off')
      : 0
    const details = { ...Object.fromEntries(changed), ...(isSwitchedOff ? { cancelled } : {}) }
    const isSwitchOff = isSwitchedOff && changed.length === 1
    return {
      result: presentSubscription(row),
      entry: { action: 'subscription.updated', subject: row.id, details, isSwitchOff },
    }
  })
}

/** Deletes a subscription, cancels its deliveries and revokes its secrets. @throws Refused where there is no such subscription */
export function deleteSubscription(administrator: Administrator, id: string): Promise<void> {
  return changeWorkspace(administrator, async (transaction) => {
    const row = await findRow(transaction, id)
    await transaction.subscription.delete({ where: { id: row.id } })
    await transaction.signingSecret.updateMany({
      where: { direction: 'outgoing', provider: row.id, revokedAt: null },
      data: { revokedAt: new Date(postgresNow()) },
    })
    const cancelled = await cancelDeliveries(transaction, row, 'The subscription was deleted')
    return {
      result: undefined,
      entry: { action: 'subscription.deleted', subject: row.id, details: { url: row.url, cancelled } },
    }
  })
}

/**
 * Sends a test event to a subscription.
 *
 * @returns the delivery's id
 * @throws Refused where there is no such subscription, or it is not active
 */
export function pingSubscription(administrator: Administrator, id: string): Promise<string> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    const row = await findRow(transaction, id)
    if (!row.isActive) throw new Refused('subscription_inactive', 'The subscription is switched off')
    const data = { subscriptionId: row.id, at: new Date(postgresNow()).toISOString() }
    const published = await deliverTo(transaction, [row.id], { workspaceId, type: pingType, data })
    return { result: published[0]?.id ?? '', entry: undefined, published }
  })
}

/** Describes the fault of a subscription's URL; undefined where there is none. */
export function findSubscriptionUrlFault(url: string): string | undefined {
  // `URL` accepts white space and control characters; placeholders are for the config of rules.
  if (httpUrl(url) !== undefined || /[\s\p{Cc}]/u.test(url)) return 'Must be an http or https URL'
  if (url.includes('{{')) return 'Must have no placeholders'
  const { username, password } = new URL(url)
  return username || password ? 'Must have no user and no password' : undefined
}

function refuseFaultyUrl(url: string): void {
  const fault = findSubscriptionUrlFault(url)
  if (fault !== undefined) throw new Refused('validation_failed', fault, 'url')
}

async function findRow(
  { subscription }: Pick<WorkspaceTransaction, 'subscription'>,
  id: string,
): Promise<Row> {
  const row = isUuid(id) ? await subscription.findUnique({ where: { id } }) : null
  if (row === null) throw notFound()
  return row
}

function notFound(): Refused {
  return new Refused('subscription_not_found', 'Subscription not found')
}

type Row = Prisma.SubscriptionGetPayload<object>

function presentSubscription({ workspaceId: _, createdAt, eventTypes, ...row }: Row): Subscription {
  return { ...row, eventTypes: eventTypes as ServiceEventType[], createdAt: createdAt.toISOString() }
}

/** @returns how many deliveries were cancelled */
async function cancelDeliveries(
  transaction: WorkspaceTransaction,
  { id, workspaceId }: { id: string; workspaceId: string },
  reason: string,
): Promise<number> {
  return (await cancelWaiting(transaction, workspaceId, [id], reason)).get(id) ?? 0
}
