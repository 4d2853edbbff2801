import type { Database } from '@automation/database'
import type { Sealer } from './sealing.js'
import { sealingContext } from './signing-secrets.js'

/** What a resealing found, and what it did. */
export interface Resealing {
  /** How many signing secrets there are. */
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

const batchSize = 500

/**
 * Seals all signing secrets with the sealer's first key, revoked ones included. It can run while everything serves, and be ended and
 * run again: each secret is replaced by a statement of its own, and only if it is still the value that was opened. What is sealed with the
 * first key stays as it is.
 *
 * @param isPlan counts only, and changes nothing
 */
export async function resealSecrets(database: Database, sealer: Sealer, isPlan: boolean): Promise<Resealing> {
  const resealing: Resealing = { secrets: 0, resealed: 0, changed: 0, unopened: [] }
  for (let after: string | undefined; ; ) {
    const secrets = await readBatch(database, after)
    for (const secret of secrets) {
      const result = await resealSecret(database, sealer, secret, isPlan)
      if (result === 'unopened') resealing.unopened.push(secret.id)
      else if (result !== 'current') resealing[result] += 1
    }
    resealing.secrets += secrets.length
    after = secrets.at(-1)?.id
    if (after === undefined) return resealing
  }
}

function readBatch({ system }: Database, after: string | undefined): Promise<SealedSecret[]> {
  return system.signingSecret.findMany({
    where: after === undefined ? {} : { id: { gt: after } },
    select: { id: true, workspaceId: true, sealed: true },
    orderBy: { id: 'asc' },
    take: batchSize,
  })
}

async function resealSecret(
  { system }: Database,
  sealer: Sealer,
  secret: SealedSecret,
  isPlan: boolean,
): Promise<'current' | 'resealed' | 'changed' | 'unopened'> {
  const { id, sealed } = secret
  let again: Uint8Array<ArrayBuffer> | undefined
  try {
    again = sealer.reseal(sealed, sealingContext(secret))
  } catch {
    return 'unopened'
  }
  if (again === undefined) return 'current'
  if (isPlan) return 'resealed'
  const { count } = await system.signingSecret.updateMany({ where: { id, sealed }, data: { sealed: again } })
  return count === 1 ? 'resealed' : 'changed'
}
