import type { Database } from '@automation/database'
import { credentialContext, noToken } from './credentials/stored-credentials.js'
import { erasureContext } from './erasures.js'
import type { Sealer } from './sealing.js'
import { sealingContext } from './signing-secrets.js'

/** What a resealing found, and what it did. */
export interface Resealing {
  /** How many signing secrets, credentials and values of erasures there are. */
  secrets: number
  /** How many of them were, or by a plan would be, sealed again. */
  resealed: number
  /** How many somebody else changed or removed meanwhile; they were left as they are. */
  changed: number
  /** The ids of the secrets that no key opens; they were left as they are, too. */
  unopened: string[]
}

interface SealedSecret {
  id: string
  workspaceId: string
  sealed: Uint8Array<ArrayBuffer>
}

/** One kind of what is sealed. */
interface SealedRows {
  read(page: object): Promise<SealedSecret[]>
  contextOf(secret: SealedSecret): string
  /** @returns how many rows still have the value that was opened */
  replace(secret: SealedSecret, sealed: Uint8Array<ArrayBuffer>): Promise<{ count: number }>
}

const columns = { id: true, workspaceId: true, sealed: true } as const
const batchSize = 500

/**
 * Seals all signing secrets, revoked ones included, all credentials and the values of all erasures with the sealer's first key. It can run while everything serves, and be
 * ended and run again: each secret is replaced by a statement of its own, and only if it is still the value that was opened. What is sealed
 * with the first key stays as it is.
 *
 * @param isPlan counts only, and changes nothing
 */
export async function resealSecrets(database: Database, sealer: Sealer, isPlan: boolean): Promise<Resealing> {
  const resealing: Resealing = { secrets: 0, resealed: 0, changed: 0, unopened: [] }
  for (const rows of listSealed(database)) await resealRows(rows, sealer, isPlan, resealing)
  return resealing
}

/**
 * Looks whether the sealer opens what was sealed last, of each kind.
 *
 * @param workspaceId undefined: of any
 * @returns undefined if nothing is sealed
 */
export async function opensNewest(
  database: Database,
  sealer: Sealer,
  workspaceId?: string,
): Promise<boolean | undefined> {
  let opens: boolean | undefined
  for (const rows of listSealed(database)) {
    const where = workspaceId === undefined ? {} : { workspaceId }
    const [newest] = await rows.read({ where, orderBy: { id: 'desc' }, take: 1 })
    if (newest === undefined) continue
    try {
      sealer.open(newest.sealed, rows.contextOf(newest))
      opens ??= true
    } catch {
      opens = false
    }
  }
  return opens
}

function listSealed({ system }: Database): SealedRows[] {
  return [
    {
      read: (page) => system.signingSecret.findMany({ ...page, select: columns }),
      contextOf: sealingContext,
      replace: ({ id, sealed }, again) =>
        system.signingSecret.updateMany({ where: { id, sealed }, data: { sealed: again } }),
    },
    {
      read: (page) => system.credential.findMany({ ...page, select: columns }),
      contextOf: credentialContext,
      // Its access token has another key, too: the next call gets a new one.
      replace: ({ id, sealed }, again) =>
        system.credential.updateMany({ where: { id, sealed }, data: { sealed: again, ...noToken } }),
    },
    {
      read: (page) => system.erasure.findMany({ ...page, select: columns }),
      contextOf: erasureContext,
      replace: ({ id, sealed }, again) =>
        system.erasure.updateMany({ where: { id, sealed }, data: { sealed: again } }),
    },
  ]
}

async function resealRows(
  rows: SealedRows,
  sealer: Sealer,
  isPlan: boolean,
  resealing: Resealing,
): Promise<void> {
  for (let after: string | undefined; ; ) {
    const where = after === undefined ? {} : { id: { gt: after } }
    const secrets = await rows.read({ where, orderBy: { id: 'asc' }, take: batchSize })
    for (const secret of secrets) {
      const result = await resealSecret(rows, sealer, secret, isPlan)
      if (result === 'unopened') resealing.unopened.push(secret.id)
      else if (result !== 'current') resealing[result] += 1
    }
    resealing.secrets += secrets.length
    after = secrets.at(-1)?.id
    if (after === undefined) return
  }
}

async function resealSecret(
  rows: SealedRows,
  sealer: Sealer,
  secret: SealedSecret,
  isPlan: boolean,
): Promise<'current' | 'resealed' | 'changed' | 'unopened'> {
  let again: Uint8Array<ArrayBuffer> | undefined
  try {
    again = sealer.reseal(secret.sealed, rows.contextOf(secret))
  } catch {
    return 'unopened'
  }
  if (again === undefined) return 'current'
  if (isPlan) return 'resealed'
  const { count } = await rows.replace(secret, again)
  return count === 1 ? 'resealed' : 'changed'
}
