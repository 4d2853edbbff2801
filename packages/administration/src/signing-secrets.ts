import { isUuid, newId, type WorkspaceDatabase, type WorkspaceTransaction } from '@automation/database'
import { newSigningSecret, readSigningKey } from '@automation/webhooks'
import { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './administrator.js'
import { credentialTimes, orNull, presentTimes, Timestamp } from './credential.js'
import { Refused } from './refused.js'
import type { Sealer } from './sealing.js'

export const Provider = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description:
    'the name that stands in the path of its webhooks: small letters, digits, dots, dashes, underscores',
})

export const SigningSecretState = Type.Enum(['active', 'retiring', 'retired', 'revoked'], {
  description: 'active and retiring ones sign',
})
export const SigningSecret = Type.Object({
  id: Type.String({ format: 'uuid', description: 'X-Signature-Id' }),
  provider: Provider,
  state: SigningSecretState,
  ...credentialTimes,
  retiresAt: orNull(Timestamp),
})
export type SigningSecret = Type.Static<typeof SigningSecret>

/** The only answer that ever shows the secret itself. */
export const NewSigningSecret = Type.Object({
  ...SigningSecret.properties,
  secret: Type.String({ description: '`whsec_…`, shown this once; it is kept encrypted' }),
})
export type NewSigningSecret = Type.Static<typeof NewSigningSecret>

export const SigningSecretToCreate = Type.Object({ provider: Provider }, { additionalProperties: false })

const maxUsableSecrets = 50

/** @throws Refused where the workspace has 50 secrets in use */
export function createSigningSecret(
  administrator: Administrator,
  sealer: Sealer,
  { provider }: Type.Static<typeof SigningSecretToCreate>,
  secret = newSigningSecret(),
): Promise<NewSigningSecret> {
  const { workspaceId } = administrator
  const id = newId()
  const sealed = sealer.seal(readSigningKey(secret), sealingContext({ id, workspaceId }))
  return changeWorkspace(administrator, async (transaction) => {
    const inUse = await transaction.signingSecret.count({
      where: { revokedAt: null, OR: [{ retiresAt: null }, { retiresAt: { gt: new Date() } }] },
    })
    if (inUse >= maxUsableSecrets)
      throw new Refused('conflict', `A workspace may have ${maxUsableSecrets} signing secrets in use`)
    const row = await transaction.signingSecret.create({ data: { id, workspaceId, provider, sealed } })
    return {
      result: { ...present(row), secret },
      entry: { action: 'signing_secret.created', subject: id, details: { provider } },
    }
  })
}

/** The newest first; those that were retired or revoked too. */
export async function listSigningSecrets(
  database: WorkspaceDatabase,
  provider?: string,
): Promise<SigningSecret[]> {
  const rows = await database.signingSecret.findMany({
    where: provider === undefined ? {} : { provider },
    orderBy: { id: 'desc' },
  })
  return rows.map(present)
}

/**
 * Lets a secret sign for a while longer, until its sender has the next one. The overlap may be changed later.
 *
 * @throws Refused where there is no such secret, or it was revoked
 */
export function retireSigningSecret(
  administrator: Administrator,
  id: string,
  overlapMs: number,
): Promise<SigningSecret> {
  return changeWorkspace(administrator, async (transaction) => {
    const found = await findSecret(transaction, id)
    if (found.revokedAt) throw new Refused('conflict', 'The signing secret was revoked')
    const retiresAt = new Date(Date.now() + overlapMs)
    const row = await transaction.signingSecret.update({ where: { id }, data: { retiresAt } })
    return {
      result: present(row),
      entry: {
        action: 'signing_secret.retired',
        subject: row.id,
        details: { provider: row.provider, retiresAt },
      },
    }
  })
}

/** From the next webhook on it signs nothing. Revoking again changes nothing. @throws Refused where there is no such secret */
export function revokeSigningSecret(administrator: Administrator, id: string): Promise<SigningSecret> {
  return changeWorkspace(administrator, async (transaction) => {
    const found = await findSecret(transaction, id)
    if (found.revokedAt) return { result: present(found), entry: undefined }
    const row = await transaction.signingSecret.update({ where: { id }, data: { revokedAt: new Date() } })
    return {
      result: present(row),
      entry: { action: 'signing_secret.revoked', subject: row.id, details: { provider: row.provider } },
    }
  })
}

/** What a sealed secret is bound to: in another row it cannot be opened. */
export function sealingContext({ id, workspaceId }: { id: string; workspaceId: string }): string {
  return `signing-secret/${workspaceId}/${id}`
}

/** What a secret is worth at a moment (epoch ms). */
export function signingSecretState(
  { retiresAt, revokedAt }: { retiresAt: Date | null; revokedAt: Date | null },
  now: number,
): SigningSecret['state'] {
  if (revokedAt) return 'revoked'
  if (!retiresAt) return 'active'
  return retiresAt.getTime() > now ? 'retiring' : 'retired'
}

async function findSecret(transaction: WorkspaceTransaction, id: string): Promise<Row> {
  const row = isUuid(id) ? await transaction.signingSecret.findUnique({ where: { id } }) : null
  if (row === null) throw new Refused('not_found', 'Signing secret not found')
  return row
}

interface Row {
  id: string
  provider: string
  createdAt: Date
  retiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
}

function present(row: Row): SigningSecret {
  return {
    id: row.id,
    provider: row.provider,
    state: signingSecretState(row, Date.now()),
    ...presentTimes(row),
    retiresAt: row.retiresAt?.toISOString() ?? null,
  }
}
