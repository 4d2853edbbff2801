import { type Sealer, sealingContext, signingSecretState } from '@automation/administration'
import { type Database, isUuid, newId } from '@automation/database'
import { diagnose, type Finding } from '@automation/webhooks'
import type { FastifyBaseLogger } from 'fastify'
import { createLocalBuckets } from '../../token-bucket.js'
import type { Delivery, RejectionReason } from './delivery.js'

export type RejectionLog = ReturnType<typeof openRejectionLog>

/** Of one workspace and process. Whoever can reach the door can be refused, and must not be able to fill the disk. */
const recorded = { perMinute: 30, burst: 30 }
/** How many of the newest secrets the doctor tries. */
const maxSecrets = 50
const diagnosable: ReadonlySet<RejectionReason> = new Set(['signature', 'timestamp'])
/** What is found only behind the signature. */
const verified: ReadonlySet<RejectionReason> = new Set(['timestamp', 'body', 'reused_id'])

/**
 * Writes refused deliveries down for the workspace that they name, if the provider is known to it, together with what
 * the signature doctor says. The caller does not wait: neither the answer nor its time depend on it.
 */
export function openRejectionLog(database: Database, sealer: Sealer, log: FastifyBaseLogger) {
  const room = createLocalBuckets()
  const writing = new Set<Promise<void>>()

  return {
    record(delivery: Delivery, reason: RejectionReason): void {
      if (!isUuid(delivery.workspaceId)) return
      if (room(delivery.workspaceId, recorded, Date.now()).isRefused) return
      const written = write(delivery, reason).catch((error) =>
        log.warn({ err: error }, 'a refused webhook could not be written down'),
      )
      writing.add(written)
      void written.then(() => writing.delete(written))
    },
    /** Waits for what is being written. */
    async close(): Promise<void> {
      await Promise.all(writing)
    },
  }

  async function write(delivery: Delivery, reason: RejectionReason): Promise<void> {
    const { workspaceId, provider, id } = delivery
    const secrets = await database.forWorkspace(workspaceId).signingSecret.findMany({
      orderBy: { id: 'desc' },
      take: maxSecrets,
    })
    if (!secrets.some((secret) => secret.provider === provider)) return
    const known = secrets.map((secret) => ({
      id: secret.id,
      provider: secret.provider,
      key: sealer.open(secret.sealed, sealingContext(secret)),
      state: signingSecretState(secret, Date.now()),
    }))
    const findings: Finding[] = diagnosable.has(reason) ? diagnose(delivery, known) : []
    await database.system.webhookRejection.create({
      data: {
        id: newId(),
        workspaceId,
        provider,
        key: id === '' ? null : id.slice(0, 255),
        verified: verified.has(reason),
        reason,
        findings: findings.map((finding) => ({ ...finding })),
      },
      select: { id: true },
    })
  }
}
