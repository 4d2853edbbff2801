import {
  type Administrator,
  createApiKey,
  createSealer,
  createSigningSecret,
  createWorkspace,
  hashApiKey,
  putMember,
  readApiKeyId,
  type Sealer,
  sealingContext,
  signingSecretState,
} from '@automation/access'
import { openDatabase } from '@automation/database'

/** The credentials of programs. */
export interface DemoCredentials {
  apiKey: string
  /** The signing secret of `npm run webhook`. */
  webhook: { provider: string; secretId: string; secret: string }
}

const provider = 'developer-fixture'

/**
 * Adds what is missing; later changes by users, such as a role or a plan, stay. A key and a secret can be read only
 * when they are created, so those of the last run are kept if they are still usable, and otherwise replaced.
 */
export async function seedDatabase(
  { databaseUrl, encryptionKey }: { databaseUrl: string; encryptionKey: string },
  known: Partial<DemoCredentials> & { workspaceId: string; otherWorkspaceId: string },
): Promise<DemoCredentials> {
  const database = openDatabase(databaseUrl, 1)
  const demo = { database, workspaceId: known.workspaceId, actor: 'cli:npm start' }
  const other = { ...demo, workspaceId: known.otherWorkspaceId }
  try {
    await seedWorkspace(demo, {
      name: 'Demo',
      plan: 'enterprise',
      admin: 'demo-admin',
      viewer: 'demo-viewer',
    })
    await seedWorkspace(other, { name: 'Other', plan: 'standard', admin: 'other-admin' })
    return {
      apiKey: await keepApiKey(demo, known.apiKey),
      webhook: await keepSigningSecret(demo, createSealer(encryptionKey), known.webhook),
    }
  } finally {
    await database.close()
  }
}

async function seedWorkspace(
  administrator: Administrator,
  input: { name: string; plan: 'standard' | 'enterprise'; admin: string; viewer?: string },
): Promise<void> {
  const { admin, viewer, ...fields } = input
  const { database, workspaceId } = administrator
  const found = await database.system.workspace.findUnique({
    where: { id: workspaceId },
    select: { members: { select: { userId: true } } },
  })
  if (found === null)
    await createWorkspace(administrator, { ...fields, adminUserId: admin }, { id: workspaceId })
  const members = new Set(found?.members.map(({ userId }) => userId) ?? [admin])
  if (!members.has(admin)) await putMember(administrator, { userId: admin, role: 'admin' })
  if (viewer && !members.has(viewer)) await putMember(administrator, { userId: viewer, role: 'viewer' })
}

async function keepApiKey(administrator: Administrator, known = ''): Promise<string> {
  const id = readApiKeyId(known)
  const row = id === undefined ? null : await databaseOf(administrator).apiKey.findUnique({ where: { id } })
  const isUsable =
    row !== null &&
    row.revokedAt === null &&
    (row.expiresAt === null || row.expiresAt.getTime() > Date.now()) &&
    hashApiKey(known).equals(row.hash)
  if (isUsable) return known
  const { key } = await createApiKey(administrator, {
    name: 'Demo',
    scopes: ['receipts:read', 'rules:write'],
  })
  return key
}

async function keepSigningSecret(
  administrator: Administrator,
  sealer: Sealer,
  known: DemoCredentials['webhook'] | undefined,
): Promise<DemoCredentials['webhook']> {
  if (known && (await isUsable(administrator, sealer, known.secretId))) return known
  const { id, secret } = await createSigningSecret(administrator, sealer, { provider })
  return { provider, secretId: id, secret }
}

/** Also false for a secret that is sealed with a key that ENCRYPTION_KEY does not have. */
async function isUsable(administrator: Administrator, sealer: Sealer, id: string): Promise<boolean> {
  const row = await databaseOf(administrator).signingSecret.findUnique({ where: { id } })
  if (row === null || signingSecretState(row, Date.now()) !== 'active') return false
  try {
    sealer.open(row.sealed, sealingContext(row))
    return true
  } catch {
    return false
  }
}

function databaseOf({ database, workspaceId }: Administrator) {
  return database.forWorkspace(workspaceId)
}
