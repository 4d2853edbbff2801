import { newId, type WorkspaceDatabase } from '@automation/database'
import { type Administrator, changeWorkspace } from '../change-workspace.js'
import { Refused } from '../refused.js'
import type { Sealer } from '../sealing.js'
import {
  type Credential,
  type CredentialKind,
  type CredentialToPut,
  findCredentialFaults,
  readHost,
} from './credential-schemas.js'

/** Of one workspace. */
export const maxCredentials = 200

/** What is sealed: the hosts, too, so that nobody who can write rows sends it elsewhere. */
export type SecretParts = Omit<CredentialToPut, 'kind'> & { kind: CredentialKind }

/**
 * Sets the values and the hosts of a credential. Rules that name it stay as they are.
 *
 * @throws Refused for a fault, or where the workspace has 200 credentials
 */
export function putCredential(
  administrator: Administrator,
  sealer: Sealer,
  name: string,
  wished: CredentialToPut,
): Promise<{ credential: Credential; isNew: boolean }> {
  const { workspaceId } = administrator
  const [fault] = findCredentialFaults(wished)
  if (fault !== undefined) return Promise.reject(new Refused('validation_failed', fault.message, fault.field))
  const { kind = 'text' } = wished
  const hosts = [...new Set(wished.hosts.map((host) => readHost(host) as string))]
  const parts: SecretParts = { ...wished, kind, hosts }
  return changeWorkspace(administrator, async (transaction) => {
    const where = { workspaceId_name: { workspaceId, name } }
    const before = await transaction.credential.findUnique({ where, select: { id: true } })
    if (before === null && (await transaction.credential.count()) >= maxCredentials)
      throw new Refused('limit_reached', `A workspace may have ${maxCredentials} credentials`)
    const id = before?.id ?? newId()
    const sealed = sealer.seal(Buffer.from(JSON.stringify(parts)), credentialContext({ id, workspaceId }))
    // A token belongs to the values that it was got with.
    const updatedAt = new Date()
    const fields = { kind, hosts, sealed, updatedAt, ...noToken }
    const row = await transaction.credential.upsert({
      where,
      create: { id, workspaceId, name, createdAt: updatedAt, ...fields },
      update: fields,
      select: columns,
    })
    return {
      result: { credential: presentCredential(row), isNew: before === null },
      entry: {
        action: before === null ? 'credential.created' : 'credential.updated',
        subject: name,
        details: { kind, hosts },
      },
    }
  })
}

/** Lists the credentials of a workspace in the order of their names, without values. */
export async function listCredentials({
  credential,
}: Pick<WorkspaceDatabase, 'credential'>): Promise<Credential[]> {
  const rows = await credential.findMany({ select: columns, orderBy: { name: 'asc' } })
  return rows.map(presentCredential)
}

/** @throws Refused where there is no such credential */
export async function readCredential(
  { credential }: Pick<WorkspaceDatabase, 'credential'>,
  name: string,
): Promise<Credential> {
  const row = name.includes('\0') ? null : await credential.findFirst({ where: { name }, select: columns })
  if (row === null) throw new Refused('credential_not_found', 'Credential not found')
  return presentCredential(row)
}

/** The context of sealed values: they cannot be opened in another row. */
export function credentialContext({ id, workspaceId }: { id: string; workspaceId: string }): string {
  return `credential/${workspaceId}/${id}`
}

export const noToken = {
  token: null,
  tokenId: null,
  tokenExpiresAt: null,
  tokenLease: null,
  tokenLeaseUntil: null,
}

const columns = {
  name: true,
  kind: true,
  hosts: true,
  createdAt: true,
  updatedAt: true,
  lastUsedAt: true,
} as const

interface Row {
  name: string
  kind: string
  hosts: string[]
  createdAt: Date
  updatedAt: Date
  lastUsedAt: Date | null
}

function presentCredential({ name, kind, hosts, createdAt, updatedAt, lastUsedAt }: Row): Credential {
  return {
    name,
    kind: kind as CredentialKind,
    hosts,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }
}
