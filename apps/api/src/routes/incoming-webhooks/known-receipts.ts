import { createBatcher } from '@automation/database'
import type { StoredReceipt } from '@automation/ledger'
import type { Redis } from 'ioredis'
import type { IncomingDelivery } from './delivery.js'

const timeToLiveSeconds = 24 * 60 * 60

/**
 * Webhooks that Postgres has found to be replays, so that the next replay need not ask it again. An entry is never written
 * before the commit: otherwise a process that dies between the two would lose the webhook for good. Where an entry is
 * missing, or Redis is away, the table's unique key decides.
 *
 * Key `<prefix>:webhook:<workspace>:<provider>:<event id>`, value `<receipt id> <SHA-256 of the body>`.
 */
export function openKnownReceipts(redis: Redis, prefix: string) {
  const load = createBatcher((keys: string[]) => redis.mget(keys))
  const keyOf = ({ workspaceId, provider, id }: IncomingDelivery) =>
    `${prefix}:webhook:${workspaceId}:${provider}:${id}`

  return {
    async find(delivery: IncomingDelivery): Promise<StoredReceipt | undefined> {
      const entry = await load(keyOf(delivery)).catch(() => null)
      const [id, bodyHash] = entry?.split(' ') ?? []
      return id && bodyHash ? { id, bodyHash, foundBy: 'id' } : undefined
    },
    remember(delivery: IncomingDelivery, { id, bodyHash }: StoredReceipt): void {
      redis.set(keyOf(delivery), `${id} ${bodyHash}`, 'EX', timeToLiveSeconds).catch(() => {})
    },
  }
}

export type KnownReceipts = ReturnType<typeof openKnownReceipts>
