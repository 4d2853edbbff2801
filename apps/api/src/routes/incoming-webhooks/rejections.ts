import {
  publish,
  type Sealer,
  type ServiceEvent,
  sealingContext,
  signingSecretState,
} from '@automation/access'
import { type Database, isUuid, newId, type Prisma, postgresNow } from '@automation/database'
import { cutText } from '@automation/engine'
import {
  diagnose,
  type KnownSecret,
  presentFinding,
  type SchemeName,
  type SchemeSettings,
  type SignatureFinding,
} from '@automation/webhooks'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { createLocalBuckets } from '../../rate-limit/token-bucket.js'
import type { IncomingDelivery, RejectionReason } from './delivery.js'

type SigningSecretRow = Prisma.SigningSecretGetPayload<object>

interface Rejection {
  delivery: IncomingDelivery
  reason: RejectionReason
  /** The refusal's sentence. */
  said: string
}

/** Limits a workspace in one process: senders without a secret must not be able to fill the disk with rejections. */
const recorded = { perMinute: 30, burst: 30 }
/** Of how many workspaces the newest one waits for room. Each may hold a body of a mebibyte. */
const maxWaiting = 30
/** Names that lead to no secret: none waits, since anybody may send to as many as they like. A secret may be created. */
const unknownNames = { max: 10_000, ttl: 60_000 }
/** How many secrets the diagnosis tries: all active ones, and the newest of the others. */
const maxSecrets = 50
/** Reasons that are found only after the signature was verified. */
const verified: ReadonlySet<RejectionReason> = new Set(['timestamp', 'body', 'reused_id'])

/**
 * Stores refused deliveries with their diagnosis for the workspace that they name, if the workspace knows the provider, and
 * publishes them to subscriptions. The caller does not wait: neither the response nor its time depends on this. Of those beyond the limit,
 * the newest one of a workspace waits until there is room, and replaces the one that waited.
 *
 * @param addJobs adds the jobs of deliveries to subscriptions (inbox.ts)
 */
export function openRejectionLog(
  database: Database,
  addJobs: (events: ServiceEvent[]) => void,
  sealer: Sealer,
  log: FastifyBaseLogger,
) {
  const room = createLocalBuckets()
  const writing = new Set<Promise<void>>()
  /** By workspace. */
  const waiting = new Map<string, { rejection: Rejection; timer: NodeJS.Timeout }>()
  const unknown = new LRUCache<string, true>(unknownNames)

  return {
    record(delivery: IncomingDelivery, reason: RejectionReason, said: string): void {
      if (isUuid(delivery.workspaceId)) writeOrWait({ delivery, reason, said })
    },
    /** Writes what waits. */
    async close(): Promise<void> {
      for (const { rejection, timer } of waiting.values()) {
        clearTimeout(timer)
        startWriting(rejection)
      }
      await Promise.all(writing)
    },
  }

  function writeOrWait(rejection: Rejection): void {
    const { workspaceId } = rejection.delivery
    const bucket = { key: workspaceId, ...recorded }
    const { isRefused, waitMs } = room({ buckets: [bucket], tokens: 1 }, Date.now())
    const older = waiting.get(workspaceId)
    const isFull = older === undefined && waiting.size >= maxWaiting
    if (isRefused && (isFull || unknown.has(nameOf(rejection.delivery)))) return
    clearTimeout(older?.timer)
    waiting.delete(workspaceId)
    if (!isRefused) startWriting(rejection)
    else {
      const tryAgain = () => {
        waiting.delete(workspaceId)
        writeOrWait(rejection)
      }
      const timer = setTimeout(tryAgain, waitMs).unref()
      waiting.set(workspaceId, { rejection, timer })
    }
  }

  function startWriting(rejection: Rejection): void {
    const written = write(rejection).catch((error) =>
      log.warn({ err: error }, 'a refused webhook could not be recorded'),
    )
    writing.add(written)
    void written.then(() => writing.delete(written))
  }

  async function write(rejection: Rejection): Promise<void> {
    const { delivery, reason } = rejection
    const { workspaceId, provider, id } = delivery
    const own = database.forWorkspace(workspaceId)
    const secrets = await own.signingSecret.findMany({
      // One that is suspended hears of nothing.
      where: { direction: 'incoming', workspace: { suspendedAt: null, deletesAt: null } },
      orderBy: [{ revokedAt: { sort: 'desc', nulls: 'first' } }, { id: 'desc' }],
      take: maxSecrets,
    })
    if (!secrets.some((secret) => secret.provider === provider))
      return void unknown.set(nameOf(delivery), true)
    unknown.delete(nameOf(delivery))
    const findings = explain(rejection, secrets)
    const rejectionId = newId()
    const key = id === '' ? null : cutText(id, 255)
    const deliveries = await own.$transaction(async (transaction) => {
      await transaction.webhookRejection.create({
        data: {
          id: rejectionId,
          workspaceId,
          provider,
          key,
          verified: verified.has(reason),
          reason,
          findings: findings.map((finding) => ({ ...finding })),
        },
        select: { id: true },
      })
      const data = { rejectionId, provider, key, reason }
      return publish(transaction, { workspaceId, type: 'receipt.rejected', data })
    })
    addJobs(deliveries)
  }

  function explain({ delivery, reason, said }: Rejection, secrets: SigningSecretRow[]): SignatureFinding[] {
    const refused = presentFinding({ code: 'refused', about: said })
    if (reason === 'body' || reason === 'reused_id') return [refused]
    const isOfSignature = reason === 'signature' || reason === 'timestamp'
    const findings = diagnose(delivery, secrets.map(openKnownSecret), isOfSignature)
    const isExplained = isOfSignature || (reason === 'header' && findings.length > 0)
    return isExplained ? findings : [refused, ...findings]
  }

  function openKnownSecret(secret: SigningSecretRow): KnownSecret {
    const { id, provider } = secret
    const scheme = secret.scheme as SchemeName
    const settings = secret.settings as SchemeSettings | null
    return {
      id,
      provider,
      scheme,
      settings,
      state: signingSecretState(secret, postgresNow()),
      key: openKey(secret),
    }
  }

  function openKey(secret: SigningSecretRow): Buffer | undefined {
    try {
      return sealer.open(secret.sealed, sealingContext(secret))
    } catch {
      // Sealed with a key that ENCRYPTION_KEY does not have.
      return undefined
    }
  }
}

function nameOf({ workspaceId, provider }: IncomingDelivery): string {
  return `${workspaceId} ${provider}`
}
