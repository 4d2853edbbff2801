import { batchBuckets, type Metrics, waitBuckets } from '@automation/telemetry'
import type { RejectionReason } from './routes/incoming-webhooks/delivery.js'

export type ApiMetrics = ReturnType<typeof createApiMetrics>

/** Deliveries that were refused for what they are, for how often they come, or for a fault of ours. */
const rejectionReasons = [
  'size',
  'content_type',
  'header',
  'signature',
  'timestamp',
  'body',
  'reused_id',
  'rate_limit',
  'unavailable',
  'fault',
] as const satisfies (RejectionReason | 'rate_limit' | 'unavailable' | 'fault')[]

/** All that an API process counts; each place that has something to count is handed its part. */
export function createApiMetrics(metrics: Metrics) {
  return {
    eventsAccepted: metrics.count(
      'automation_events_accepted_total',
      'Events that this process has accepted, by whatever door',
    ),
    acceptBatches: metrics.measure(
      'automation_accept_batch_events',
      'Events accepted by one commit',
      batchBuckets,
    ),
    acceptCommits: metrics.measure(
      'automation_accept_commit_seconds',
      'How long Postgres took for a commit that accepts',
      waitBuckets,
    ),
    callers: metrics.counts(
      'automation_callers_total',
      'Requests that waited for their outcome, by how the wait ended',
      'ended',
      ['answered', 'timed_out', 'not_accepted'],
    ),
    /** @param count how many wait at this moment */
    registerWaiting: (count: () => number) =>
      metrics.gauge('automation_callers_waiting', 'Requests that wait for their outcome', count),
    rateLimited: metrics.counts(
      'automation_rate_limited_total',
      'Requests that found an empty bucket, by whose it was',
      'bucket',
      ['anonymous', 'authenticated', 'enterprise', 'webhooks'],
    ),
    deliveries: metrics.counts(
      'automation_webhook_deliveries_total',
      'Webhooks that were delivered, each with one outcome',
      'outcome',
      ['accepted', 'duplicate', 'rejected'],
    ),
    rejections: metrics.counts(
      'automation_webhook_rejections_total',
      'Webhooks that were rejected, by the reason',
      'reason',
      rejectionReasons,
    ),
    idempotentReplays: metrics.count(
      'automation_idempotent_replays_total',
      'Requests that were answered as their first one was, by their Idempotency-Key',
    ),
  }
}
