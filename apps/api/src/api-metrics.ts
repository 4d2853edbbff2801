import { batchBuckets, type Metrics, waitBuckets } from '@automation/process/telemetry'
import { Counter, Histogram } from 'prom-client'
import { bucketLabels } from './rate-limit/find-buckets.js'

export type ApiMetrics = ReturnType<typeof createApiMetrics>

/** A delivery is rejected for its content, for its rate, or because of a failure on our side. */
const rejectionReasons = [
  'size',
  'content_type',
  'content_encoding',
  'header',
  'signature',
  'timestamp',
  'body',
  'reused_id',
  'rate_limit',
  'unavailable',
  'fault',
] as const

/** Every metric that an API process updates itself. */
export function createApiMetrics(metrics: Metrics) {
  const { registers } = metrics
  return {
    eventsAccepted: new Counter({
      name: 'automation_events_accepted_total',
      help: 'Events accepted by this process, through any entry point',
      registers,
    }),
    acceptBatches: new Histogram({
      name: 'automation_accept_batch_events',
      help: 'Events accepted per commit',
      buckets: batchBuckets,
      registers,
    }),
    acceptCommits: new Histogram({
      name: 'automation_accept_commit_seconds',
      help: 'Duration in seconds of a commit that accepts events',
      buckets: waitBuckets,
      registers,
    }),
    callers: metrics.counters(
      'automation_callers_total',
      'Requests that waited for the outcome of an event, by result of the wait',
      'ended',
      ['answered', 'timed_out', 'not_accepted'],
    ),
    /** @param count returns how many requests wait at the moment */
    registerWaiting: (count: () => number) =>
      metrics.gauge('automation_callers_waiting', 'Requests that wait for the outcome of an event', count),
    ...createRefusalCounters(metrics),
    deliveries: metrics.counters(
      'automation_webhook_deliveries_total',
      'Incoming webhook deliveries, each with one outcome',
      'outcome',
      ['accepted', 'duplicate', 'rejected'],
    ),
    rejections: metrics.counters(
      'automation_webhook_rejections_total',
      'Rejected incoming webhook deliveries, by reason',
      'reason',
      rejectionReasons,
    ),
    unopenedSecrets: new Counter({
      name: 'automation_webhook_unopened_secrets_total',
      help: 'Rejected incoming webhook deliveries whose signing secret cannot be decrypted with ENCRYPTION_KEY',
      registers,
    }),
    idempotentReplays: new Counter({
      name: 'automation_idempotent_replays_total',
      help: 'Requests that received the stored response of an earlier request with the same Idempotency-Key',
      registers,
    }),
  }
}

/** What was refused to callers by a limit. */
function createRefusalCounters(metrics: Metrics) {
  return {
    rateLimited: metrics.counters(
      'automation_rate_limited_total',
      'Requests refused by the rate limit, by bucket',
      'bucket',
      bucketLabels,
    ),
    readsRefused: metrics.counters(
      'automation_reads_refused_total',
      'Queries refused by their limits: too_long or too_many',
      'reason',
      ['too_long', 'too_many'],
    ),
    bodiesRefused: new Counter({
      name: 'automation_bodies_refused_total',
      help: 'Requests refused because large bodies used all of their memory',
      registers: metrics.registers,
    }),
    slowReaders: new Counter({
      name: 'automation_slow_readers_closed_total',
      help: 'Connections closed because the caller read the response too slowly or not at all',
      registers: metrics.registers,
    }),
    evaluationsRefused: metrics.counters(
      'automation_evaluations_refused_total',
      'Dry runs, explanations, previews and checks of rules refused by their limits: too_many, too_much (work), too_long or too_large (memory, or 4 MiB of response)',
      'reason',
      ['too_many', 'too_much', 'too_long', 'too_large'],
    ),
  }
}
