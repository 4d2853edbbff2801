import type { Tenant } from '@automation/database'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.js'
import type { KeyedBucket } from './token-bucket.js'

/** What metrics call the buckets. */
export const bucketLabels = [
  'anonymous',
  'authenticated',
  'enterprise',
  'webhooks',
  'workspace',
  'creator',
] as const
export type BucketLabel = (typeof bucketLabels)[number]

/** To whom the buckets of a request belong. */
export interface BucketOwner {
  /** Of the lowest bucket: `user:<sub>`, `api_key:<id>` or `webhooks:<workspace>`. */
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
 *   IP (anonymous)
 *   API key or user ──▶ workspace ──▶ creator of the workspace
 *   webhooks of a workspace ────────▶ creator of the workspace
 *
 * So no number of keys multiplies the rate of a workspace, and no number of workspaces that of their creator. There is a bucket of
 * each kind for each plan.
 */
export function findBuckets(
  { bucketOwner, ip }: FastifyRequest,
  limits: Config['rateLimits'],
): [LabelledBucket, ...LabelledBucket[]] {
  if (bucketOwner === undefined) {
    // Despite its type, `ip` is undefined once the caller has disconnected.
    const key = `anonymous:${ip ? normalizeIP(ip, 64) : 'gone'}`
    return [{ label: 'anonymous', key, ...limits.anonymous }]
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
  if (createdBy !== null)
    buckets.push({ label: 'creator', key: `creator:${plan}:${createdBy}`, ...limits.creator[plan] })
  return buckets
}
