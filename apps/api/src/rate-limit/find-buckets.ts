import type { Tenant } from '@automation/access'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.js'
import type { KeyedBucket } from './token-bucket.js'

/** What metrics call the buckets. */
export const bucketLabels = [
  'anonymous',
  'docs',
  'authenticated',
  'enterprise',
  'webhooks',
  'workspace',
  'creator',
] as const
export type BucketLabel = (typeof bucketLabels)[number]

/** The workspaces of a creator may receive so many webhooks for each call that they may make: providers must not suffer from callers. */
const webhooksPerCall = 10
/** A page of the documentation loads about so many files. So a reader takes nothing from who signs in from the same address, nor the other way round. */
const filesOfAPage = 10

/** To whom the buckets of a request belong. */
export interface BucketOwner {
  /** Of the lowest bucket: `user:<sub>`, `api_key:<id>`, `webhooks:<workspace>` or, for its links, `decision:<execution>`. */
  owner: string
  rateClass: 'authenticated' | 'enterprise'
  /** The workspace to which the owner belongs; undefined where it names a workspace of others, or none. */
  tenant: (Tenant & { workspaceId: string }) | undefined
}

export interface LabelledBucket extends KeyedBucket {
  label: BucketLabel
}

/**
 * Finds the buckets of a request, the lowest one first:
 *
 *   IP (anonymous), or IP (docs)
 *   API key or user ──▶ workspace ──▶ creator of the workspace
 *   webhooks of a workspace ────────▶ webhooks of the creator's workspaces
 *
 * So no number of keys multiplies the rate of a workspace, and no number of workspaces that of their creator. There is a bucket of
 * each kind for each plan.
 */
export function findBuckets(
  { bucketOwner, ip, routeOptions }: FastifyRequest,
  limits: Config['rateLimits'],
): [LabelledBucket, ...LabelledBucket[]] {
  if (bucketOwner === undefined) {
    const { perMinute, burst } = limits.anonymous
    return routeOptions.config.isDocs
      ? [
          {
            label: 'docs',
            key: `docs:${addressOf(ip)}`,
            perMinute: perMinute * filesOfAPage,
            burst: burst * filesOfAPage,
          },
        ]
      : [{ label: 'anonymous', key: `anonymous:${addressOf(ip)}`, ...limits.anonymous }]
  }
  const { owner, rateClass, tenant } = bucketOwner
  const isWebhook = owner.startsWith('webhooks:')
  const label = isWebhook ? 'webhooks' : rateClass
  const buckets: [LabelledBucket, ...LabelledBucket[]] = [
    { label, key: `${rateClass}:${owner}`, ...limits[rateClass] },
  ]
  if (tenant === undefined) return buckets
  const { workspaceId, plan, createdBy } = tenant
  if (!isWebhook)
    buckets.push({ label: 'workspace', key: `workspace:${plan}:${workspaceId}`, ...limits.workspace[plan] })
  if (createdBy === null) return buckets
  const creator = { label: 'creator' as const, ...limits.creator[plan] }
  if (!isWebhook) buckets.push({ ...creator, key: `creator:${plan}:${createdBy}` })
  else {
    const { perMinute, burst } = creator
    const key = `creator-webhooks:${plan}:${createdBy}`
    buckets.push({ ...creator, key, perMinute: perMinute * webhooksPerCall, burst: burst * webhooksPerCall })
  }
  return buckets
}

/** The address of callers who are not known. Despite its type, `ip` is undefined once the caller has disconnected. */
export function addressOf(ip: string): string {
  return ip ? normalizeIP(ip, 64) : 'gone'
}
