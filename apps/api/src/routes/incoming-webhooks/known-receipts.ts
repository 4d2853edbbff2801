import type { StoredReceipt } from '@automation/inbox'
import type { Redis } from 'ioredis'
import type { Delivery } from './delivery.js'

const timeToLiveSeconds = 24 * 60 * 60

/**
 * Webhooks that are known to be stored, so that a replay need not ask Postgres. An entry is written after the commit
 * and never before: were it a gate, a process that dies between the two would lose the webhook for good. Where an
 * entry is missing, or Redis is, the table's unique key decides.
 *
 * Key `<prefix>:webhook:<workspace>:<provider>:<event id>`, value `<receipt id> <SHA-256 of the body>`.
 */
export function openKnownReceipts(redis: Redis, prefix: string) {
  const keyOf = ({ workspaceId, provider, id }: Delivery) =>
    `${prefix}:webhook:${workspaceId}:${provider}:${id}`

  return {
    async find(delivery: Delivery): Promise<StoredReceipt | undefined> {
      const entry = await redis.get(keyOf(delivery)).catch(() => null)
      const [id, bodyHash] = entry?.split(' ') ?? []
      return id && bodyHash ? { id, bodyHash } : undefined
    },
    remember(delivery: Delivery, { id, bodyHash }: StoredReceipt): void {
      redis.set(keyOf(delivery), `${id} ${bodyHash}`, 'EX', timeToLiveSeconds).catch(() => {})
    },
  }
}
