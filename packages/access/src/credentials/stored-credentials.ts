import {
  newId,
  type Prisma,
  postgresNow,
  type WorkspaceDatabase,
  type WorkspaceTransaction,
} from '@automation/database'
import type { Fault } from '@automation/engine'
import { type Administrator, changeWorkspace } from '../change-workspace.js'
import { Refused } from '../refused.js'
import type { Sealer } from '../sealing.js'
import {
  type Credential,
  type CredentialKind,
  type CredentialToPatch,
  type CredentialToPut,
  findCredentialFaults,
  readHost,
  trimInvisible,
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
export async function putCredential(
  administrator: Administrator,
  sealer: Sealer,
  name: string,
  wished: CredentialToPut,
): Promise<{ credential: Credential; isNew: boolean }> {
  const { workspaceId } = administrator
  refuseFaults(findCredentialFaults(wished))
  return changeWorkspace(administrator, async (transaction) => {
    const found = await transaction.credential.findUnique({
      where: { workspaceId_name: { workspaceId, name } },
    })
    if (found === null && (await transaction.credential.count()) >= maxCredentials)
      throw new Refused('limit_reached', `A workspace may have ${maxCredentials} credentials`)
    const { kind = 'text' } = wished
    const id = found?.id ?? newId()
    const credential = await store(transaction, sealer, { id, workspaceId, name }, { ...wished, kind })
    const { hosts } = credential
    const action = found === null ? 'credential.created' : 'credential.updated'
    return {
      result: { credential, isNew: found === null },
      entry: { action, subject: name, details: { kind, hosts } },
    }
  })
}

/**
 * Changes part of a credential: what is absent stays. Where it would be sent to a host that it was not for, its secrets have to be sent, too:
 * who changes it may not know them, and must not learn them by that.
 *
 * @throws Refused where there is no such credential, or for a fault
 */
export function patchCredential(
  administrator: Administrator,
  sealer: Sealer,
  name: string,
  changes: CredentialToPatch,
): Promise<Credential> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    const found = name.includes('\0') ? null : await transaction.credential.findFirst({ where: { name } })
    if (found === null) throw new Refused('credential_not_found', 'Credential not found')
    const before = openParts(sealer, found)
    const wished = mergeParts(before, changes)
    refuseFaults([...findCredentialFaults(wished), ...findUnprovenSecrets(before, changes, wished)])
    const result = await store(transaction, sealer, { id: found.id, workspaceId, name }, wished)
    const details = { kind: result.kind, hosts: result.hosts, changed: Object.keys(changes).sort() }
    return { result, entry: { action: 'credential.updated', subject: name, details } }
  })
}

function mergeParts(before: SecretParts, changes: CredentialToPatch): SecretParts {
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged) as SecretParts
}

/** A user name is often the secret itself. */
const secretsOf = { text: ['value'], basic: ['username', 'password'], oauth2: ['clientSecret'] } as const

function findUnprovenSecrets(before: SecretParts, changes: CredentialToPatch, wished: SecretParts): Fault[] {
  const isNewHost = wished.hosts.some((host) => !before.hosts.includes(readHost(host) ?? ''))
  if (!isNewHost && wished.tokenUrl === before.tokenUrl) return []
  const missing = secretsOf[before.kind].filter(
    (field) => before[field] !== undefined && changes[field] === undefined,
  )
  const message = 'Must be sent, too: the credential would be sent to a host that it was not for'
  return missing.map((field) => ({ field, message }))
}

/** @throws Refused where ENCRYPTION_KEY does not have the key any more */
function openParts(
  sealer: Sealer,
  found: { id: string; workspaceId: string; sealed: Uint8Array },
): SecretParts {
  try {
    return JSON.parse(sealer.open(found.sealed, credentialContext(found)).toString()) as SecretParts
  } catch {
    const message = 'The stored values cannot be decrypted with ENCRYPTION_KEY: replace all of them'
    throw new Refused('validation_failed', message)
  }
}

function refuseFaults([fault]: Fault[]): void {
  if (fault !== undefined) throw new Refused('validation_failed', fault.message, fault.field)
}

async function store(
  transaction: WorkspaceTransaction,
  sealer: Sealer,
  { id, workspaceId, name }: { id: string; workspaceId: string; name: string },
  wished: SecretParts,
): Promise<Credential> {
  const { kind } = wished
  const hosts = [...new Set(wished.hosts.map((host) => readHost(host) as string))]
  const seen = Object.entries(wished).map(([field, value]) => [
    field,
    typeof value === 'string' ? trimInvisible(value) : value,
  ])
  const parts: SecretParts = { ...Object.fromEntries(seen), hosts }
  const sealed = sealer.seal(Buffer.from(JSON.stringify(parts)), credentialContext({ id, workspaceId }))
  const updatedAt = new Date(postgresNow())
  // A token belongs to the values that it was got with.
  const fields = { kind, hosts, sealed, updatedAt, ...noToken }
  const row = await transaction.credential.upsert({
    where: { workspaceId_name: { workspaceId, name } },
    create: { id, workspaceId, name, createdAt: updatedAt, ...fields },
    update: fields,
    select: columns,
  })
  return presentCredential(row)
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

type Row = Prisma.CredentialGetPayload<{ select: typeof columns }>

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
