import { createBatcher } from '@automation/database'
import type { StoredReceipt } from '@automation/ledger'
import type { Redis } from 'ioredis'
import type { IncomingDelivery } from './delivery.js'
import type { Identity } from './identify.js'

const timeToLiveSeconds = 24 * 60 * 60

/**
 * Webhooks that Postgres has found to be replays, so that the next replay need not ask it again. An entry is never written
 * before the commit: otherwise a process that dies between the two would lose the webhook for good. Where an entry is
 * missing, of an earlier generation of Postgres (a failover may have lost its receipt), or Redis is away, the table's unique key decides.
 *
 * Key `<prefix>:webhook:<workspace>:<provider>:<event id>` or `hash/<unique hash>`, value `<receipt id> <SHA-256 of the body> <generation>`.
 */
export function openKnownReceipts(redis: Redis, prefix: string, generation: () => string) {
  const load = createBatcher((keys: string[]) => redis.mget(keys))
  const keyOf = (
    { workspaceId, provider, id, uniqueHash }: KnownDelivery,
    foundBy: StoredReceipt['foundBy'],
  ) =>
    // No id has a slash.
    `${prefix}:webhook:${workspaceId}:${provider}:${foundBy === 'id' ? id : `hash/${uniqueHash}`}`

  return {
    async find(delivery: KnownDelivery): Promise<StoredReceipt | undefined> {
      const [byId, byHash] = await Promise.all([
        read(delivery, 'id'),
        delivery.uniqueHash === undefined ? undefined : read(delivery, 'body'),
      ])
      return byId ?? byHash
    },
    remember(delivery: KnownDelivery, { id, bodyHash, foundBy }: StoredReceipt): void {
      redis
        .set(keyOf(delivery, foundBy), `${id} ${bodyHash} ${generation()}`, 'EX', timeToLiveSeconds)
        .catch(() => {})
    },
  }

  async function read(
    delivery: KnownDelivery,
    foundBy: StoredReceipt['foundBy'],
  ): Promise<StoredReceipt | undefined> {
    const entry = await load(keyOf(delivery, foundBy)).catch(() => null)
    const [id, bodyHash, of] = entry?.split(' ') ?? []
    return id && bodyHash && of === generation() ? { id, bodyHash, foundBy } : undefined
  }
}

type KnownDelivery = Pick<IncomingDelivery, 'workspaceId' | 'provider' | 'id'> & Pick<Identity, 'uniqueHash'>

export type KnownReceipts = ReturnType<typeof openKnownReceipts>
