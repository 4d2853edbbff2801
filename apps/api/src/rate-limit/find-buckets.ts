import type { Tenant } from '@automation/access'
import { networkOf } from '@automation/process/server'
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
  'links',
  'frames',
  'workspace',
  'creator',
] as const
export type BucketLabel = (typeof bucketLabels)[number]

interface SharedBucket {
  of: 'workspace' | 'creator'
  name: string
  label: BucketLabel
  /** So many times the figures of the plan. */
  times?: number
}

/** The buckets above the lowest one. */
const sharedBuckets: Record<BucketOwner['kind'], SharedBucket[]> = {
  caller: [
    { of: 'workspace', name: 'workspace', label: 'workspace' },
    { of: 'creator', name: 'creator', label: 'creator' },
  ],
  // A creator's workspaces may receive ten webhooks for each call that they may make: providers must not suffer from callers.
  webhooks: [{ of: 'creator', name: 'creator-webhooks', label: 'creator', times: 10 }],
  links: [
    { of: 'workspace', name: 'links', label: 'links' },
    { of: 'creator', name: 'creator-links', label: 'links' },
  ],
  frames: [
    { of: 'workspace', name: 'frames', label: 'frames' },
    { of: 'creator', name: 'creator-frames', label: 'frames' },
  ],
}
/** A page of the documentation loads about so many files. So a reader takes nothing from who signs in from the same address, nor the other way round. */
const filesOfAPage = 10

/** To whom the buckets of a request belong. */
export interface BucketOwner {
  kind: 'caller' | 'webhooks' | 'links' | 'frames'
  /** Of the lowest bucket: `user:<sub>`, `api_key:<id>`, `webhooks:<workspace>`, `decision:<execution>` for its links, `frame:<session>`. */
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
 *   links of a decision ──▶ links of the workspace ──▶ links of the creator's workspaces
 *   frame of a session ───▶ frames of the workspace ─▶ frames of the creator's workspaces
 *
 * So no number of keys multiplies the rate of a workspace, and no number of workspaces that of their creator. There is a bucket of
 * each kind for each plan. Callers, webhooks, links and frames share none: who holds a link, or knows the ids of sessions, takes no request
 * from the callers of their workspace, and they refuse nobody who decides or opens a frame.
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
  const { kind, owner, rateClass, tenant } = bucketOwner
  const label = kind === 'caller' ? rateClass : kind
  const lowest = { label, key: `${rateClass}:${owner}`, ...limits[rateClass] }
  if (tenant === undefined) return [lowest]
  const { workspaceId, plan, createdBy } = tenant
  const ids = { workspace: workspaceId, creator: createdBy }
  const others = sharedBuckets[kind].flatMap(({ of, name, label, times = 1 }) => {
    if (ids[of] === null) return []
    const { perMinute, burst } = limits[of][plan]
    const key = `${name}:${plan}:${ids[of]}`
    return [{ label, key, perMinute: perMinute * times, burst: burst * times }]
  })
  return [lowest, ...others]
}

/** The address of callers who are not known. Despite its type, `ip` is undefined once the caller has disconnected. */
export function addressOf(ip: string): string {
  return ip ? networkOf(ip) : 'gone'
}
