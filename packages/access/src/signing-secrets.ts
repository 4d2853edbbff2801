import {
  isUuid,
  newId,
  type Prisma,
  postgresNow,
  type WorkspaceDatabase,
  type WorkspaceTransaction,
} from '@automation/database'
import { newSigningSecret, readSigningKey, type SchemeName, type SchemeSettings } from '@automation/webhooks'
import type { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { listNewest, presentTimes } from './credential.js'
import { Refused } from './refused.js'
import type { Sealer } from './sealing.js'
import { findSecretFaults, refuseFirst, refuseUnknownTypes } from './signing-secret-faults.js'
import type {
  NewSigningSecret,
  SecretDirection,
  SigningSecret,
  SigningSecretToCreate,
} from './signing-secret-schemas.js'

/** Of each direction. */
const maxUsableSecrets = 50
/** Of a provider with a scheme that names no secret: all of them are tried. */
export const maxOfProvider = 5
/** With those that were revoked or retired: they stay as long as the audit log that names them. */
const maxSecrets = 5_000

/** @throws Refused where the workspace has 50 such secrets in use or 5,000 in all, or no such subscription */
export function createSigningSecret(
  administrator: Administrator,
  sealer: Sealer,
  input: Type.Static<typeof SigningSecretToCreate>,
): Promise<NewSigningSecret> {
  const { workspaceId } = administrator
  const { provider, direction = 'incoming', scheme = 'automation', settings } = input
  const { secret = newSigningSecret() } = input
  return changeWorkspace(administrator, async (transaction) => {
    refuseFirst(findSecretFaults(input))
    if (direction === 'outgoing' && isUuid(provider)) await refuseUnknownSubscription(transaction, provider)
    if (direction === 'incoming') await refuseOtherScheme(transaction, provider, scheme)
    await refuseUnknownTypes(transaction, settings)
    const fields = { workspaceId, direction, provider, scheme, ...(settings && { settings }) }
    const created = await addSigningSecret(transaction, sealer, fields, secret)
    return {
      result: { ...created, secret },
      entry: {
        action: 'signing_secret.created',
        subject: created.id,
        details: detailsOf(fields),
      },
    }
  })
}

/** Of the usual direction and scheme, the provider says all. */
function detailsOf({ provider, direction, scheme }: { provider: string; direction: string; scheme: string }) {
  return {
    provider,
    ...(direction !== 'incoming' && { direction }),
    ...(scheme !== 'automation' && { scheme }),
  }
}

/** Adds a secret as part of a larger change. @throws Refused where the workspace has 50 such secrets in use, or 5,000 in all */
export async function addSigningSecret(
  transaction: WorkspaceTransaction,
  sealer: Sealer,
  fields: SecretFields,
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
  const sealed = sealer.seal(writeKey(fields.scheme, secret), sealingContext({ id, workspaceId }))
  return presentSigningSecret(await transaction.signingSecret.create({ data: { ...fields, id, sealed } }))
}

interface SecretFields {
  workspaceId: string
  direction: SecretDirection
  provider: string
  scheme?: SchemeName
  settings?: SchemeSettings
}

/** Schemes of providers read the key from its text: the settings, which may change, say how. */
export function writeKey(scheme: SchemeName = 'automation', secret: string): Buffer {
  return scheme === 'automation' ? readSigningKey(secret) : Buffer.from(secret)
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
  return { revokedAt: null, OR: [{ retiresAt: null }, { retiresAt: { gt: new Date(postgresNow()) } }] }
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
    const now = postgresNow()
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
    const row = await transaction.signingSecret.update({
      where: { id },
      data: { revokedAt: new Date(postgresNow()) },
    })
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

/** Webhooks without the id of a secret are verified with all of their provider, so these sign in one way. */
async function refuseOtherScheme(
  { signingSecret }: WorkspaceTransaction,
  provider: string,
  scheme: SchemeName,
): Promise<void> {
  const ofProvider = { direction: 'incoming', provider, ...isInUse() } as const
  const other = await signingSecret.findFirst({ where: { ...ofProvider, NOT: { scheme } } })
  if (other !== null)
    throw new Refused(
      'scheme_in_use',
      `The secrets of this provider have the scheme ${other.scheme}: revoke them first, or use another name for the provider`,
    )
  if (scheme !== 'automation' && (await signingSecret.count({ where: ofProvider })) >= maxOfProvider)
    throw new Refused(
      'limit_reached',
      `A provider may have ${maxOfProvider} signing secrets of the scheme ${scheme} in use`,
    )
}

export async function findSecret(
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

type Row = Prisma.SigningSecretGetPayload<object>

export function presentSigningSecret(row: Row): SigningSecret {
  return {
    id: row.id,
    direction: row.direction,
    provider: row.provider,
    scheme: row.scheme as SchemeName,
    settings: row.settings as SchemeSettings | null,
    state: signingSecretState(row, postgresNow()),
    ...presentTimes(row),
    retiresAt: row.retiresAt?.toISOString() ?? null,
  }
}
