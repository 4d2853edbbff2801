import { isUuid, newId, type WorkspaceDatabase, type WorkspaceTransaction } from '@automation/database'
import { newSigningSecret, readSigningKey } from '@automation/webhooks'
import type { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { listNewest, presentTimes } from './credential.js'
import { Refused } from './refused.js'
import type { Sealer } from './sealing.js'
import {
  isProvider,
  type NewSigningSecret,
  type SecretDirection,
  type SigningSecret,
  type SigningSecretToCreate,
} from './signing-secret-schemas.js'

/** Of each direction. */
const maxUsableSecrets = 50
/** With those that were revoked or retired: they stay as long as the audit log that names them. */
const maxSecrets = 5_000

/** @throws Refused where the workspace has 50 such secrets in use or 5,000 in all, or no such subscription */
export function createSigningSecret(
  administrator: Administrator,
  sealer: Sealer,
  { provider, direction = 'incoming' }: Type.Static<typeof SigningSecretToCreate>,
  secret = newSigningSecret(),
): Promise<NewSigningSecret> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    if (direction === 'incoming' && !isProvider(provider))
      throw new Refused(
        'validation_failed',
        'Must be the name of a provider, as in the path of its webhooks',
        'provider',
      )
    if (direction === 'outgoing' && isUuid(provider)) await refuseUnknownSubscription(transaction, provider)
    const created = await addSigningSecret(transaction, sealer, { workspaceId, direction, provider }, secret)
    return {
      result: { ...created, secret },
      entry: {
        action: 'signing_secret.created',
        subject: created.id,
        details: direction === 'incoming' ? { provider } : { provider, direction },
      },
    }
  })
}

/** Adds a secret as part of a larger change. @throws Refused where the workspace has 50 such secrets in use, or 5,000 in all */
export async function addSigningSecret(
  transaction: WorkspaceTransaction,
  sealer: Sealer,
  fields: { workspaceId: string; direction: SecretDirection; provider: string },
  secret: string,
): Promise<SigningSecret> {
  const { workspaceId, direction } = fields
  const inUse = await transaction.signingSecret.count({
    where: { direction, ...isInUse() },
  })
  if (inUse >= maxUsableSecrets)
    throw new Refused(
      'limit_reached',
      `A workspace may have ${maxUsableSecrets} ${direction} signing secrets in use`,
    )
  if ((await transaction.signingSecret.count()) >= maxSecrets)
    throw new Refused(
      'limit_reached',
      `A workspace may have ${maxSecrets} signing secrets, with those that were revoked or retired`,
    )
  const id = newId()
  const sealed = sealer.seal(readSigningKey(secret), sealingContext({ id, workspaceId }))
  return presentSigningSecret(await transaction.signingSecret.create({ data: { ...fields, id, sealed } }))
}

/** Lists all secrets in use and the newest retired and revoked ones, at most 1,000, the newest first. */
export async function listSigningSecrets(
  database: WorkspaceDatabase,
  filter: { direction?: SecretDirection; provider?: string } = {},
): Promise<SigningSecret[]> {
  const { direction, provider } = filter
  const filters = {
    ...(direction === undefined ? {} : { direction }),
    ...(provider === undefined ? {} : { provider }),
  }
  const rows = await listNewest(isInUse(), (condition, take) =>
    database.signingSecret.findMany({ where: { ...filters, ...condition }, take, orderBy: { id: 'desc' } }),
  )
  return rows.map(presentSigningSecret)
}

/** @throws Refused where there is no such secret */
export async function readSigningSecret(
  database: Pick<WorkspaceDatabase, 'signingSecret'>,
  id: string,
): Promise<SigningSecret> {
  return presentSigningSecret(await findSecret(database, id))
}

function isInUse() {
  return { revokedAt: null, OR: [{ retiresAt: null }, { retiresAt: { gt: new Date() } }] }
}

/**
 * Retires a secret after an overlap, in which it still signs until its sender has the next one. The overlap may be changed until it ends:
 * what has retired never signs again, otherwise more secrets could be in use than a workspace may have.
 *
 * @throws Refused where there is no such secret, or it was revoked or has retired
 */
export function retireSigningSecret(
  administrator: Administrator,
  id: string,
  overlapMs: number,
): Promise<SigningSecret> {
  return changeWorkspace(administrator, async (transaction) => {
    const found = await findSecret(transaction, id)
    const now = Date.now()
    const state = signingSecretState(found, now)
    if (state === 'revoked') throw new Refused('signing_secret_revoked', 'The signing secret was revoked')
    if (state === 'retired')
      throw new Refused('signing_secret_retired', 'The signing secret has retired: create a new one')
    const retiresAt = new Date(now + overlapMs)
    const row = await transaction.signingSecret.update({ where: { id }, data: { retiresAt } })
    return {
      result: presentSigningSecret(row),
      entry: {
        action: 'signing_secret.retired',
        subject: row.id,
        details: { provider: row.provider, retiresAt },
      },
    }
  })
}

/** Revokes a secret from the next webhook on. To revoke it again changes nothing. @throws Refused where there is no such secret */
export function revokeSigningSecret(administrator: Administrator, id: string): Promise<SigningSecret> {
  return changeWorkspace(administrator, async (transaction) => {
    const found = await findSecret(transaction, id)
    if (found.revokedAt) return { result: presentSigningSecret(found), entry: undefined }
    const row = await transaction.signingSecret.update({ where: { id }, data: { revokedAt: new Date() } })
    return {
      result: presentSigningSecret(row),
      entry: { action: 'signing_secret.revoked', subject: row.id, details: { provider: row.provider } },
    }
  })
}

/** The context of a sealed secret: it cannot be opened in another row. */
export function sealingContext({ id, workspaceId }: { id: string; workspaceId: string }): string {
  return `signing-secret/${workspaceId}/${id}`
}

/** The state of a secret at a time (epoch ms). */
export function signingSecretState(
  { retiresAt, revokedAt }: { retiresAt: Date | null; revokedAt: Date | null },
  now: number,
): SigningSecret['state'] {
  if (revokedAt) return 'revoked'
  if (!retiresAt) return 'active'
  return retiresAt.getTime() > now ? 'retiring' : 'retired'
}

async function findSecret(
  { signingSecret }: Pick<WorkspaceDatabase, 'signingSecret'>,
  id: string,
): Promise<Row> {
  const row = isUuid(id) ? await signingSecret.findUnique({ where: { id } }) : null
  if (row === null) throw new Refused('signing_secret_not_found', 'Signing secret not found')
  return row
}

async function refuseUnknownSubscription(transaction: WorkspaceTransaction, id: string): Promise<void> {
  if ((await transaction.subscription.count({ where: { id } })) === 0)
    throw new Refused('validation_failed', 'No subscription has this id', 'provider')
}

interface Row {
  id: string
  direction: SecretDirection
  provider: string
  createdAt: Date
  retiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
}

function presentSigningSecret(row: Row): SigningSecret {
  return {
    id: row.id,
    direction: row.direction,
    provider: row.provider,
    state: signingSecretState(row, Date.now()),
    ...presentTimes(row),
    retiresAt: row.retiresAt?.toISOString() ?? null,
  }
}
