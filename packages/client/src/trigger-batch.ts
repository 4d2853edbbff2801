import type { BatchAnswer, BatchEvent, BatchResult, EventType } from './api.js'
import { newIdempotencyKey } from './idempotency-key.js'
import { pause } from './pause.js'
import { backOff } from './retry.js'
import type { RequestOptions, Sender } from './send.js'

/** The maximum number of events in one request. */
const batchSize = 500

/** Posts any number of events, and repeats those with an unknown outcome. */
export async function triggerBatch(
  sender: Sender,
  eventType: EventType,
  events: BatchEvent[],
  options: RequestOptions = {},
): Promise<BatchAnswer> {
  const keyed = events.map(({ data, idempotencyKey = newIdempotencyKey() }) => ({ data, idempotencyKey }))
  const results: BatchResult[] = []
  for (let from = 0; from < keyed.length; from += batchSize) {
    results.push(...(await postBatch(sender, eventType, keyed.slice(from, from + batchSize), options)))
  }
  return { accepted: results.filter(isAccepted).length, results }
}

async function postBatch(
  sender: Sender,
  eventType: EventType,
  events: BatchEvent[],
  options: RequestOptions,
): Promise<BatchResult[]> {
  const { retries = sender.retries, signal } = options
  const results: BatchResult[] = []
  let open = events.map((_, index) => index)
  for (let failures = 0; ; ) {
    const { results: answered } = await sender.ask(
      'POST /api/automation-rules/trigger/{eventType}/batch',
      { path: { eventType }, body: { events: open.flatMap((index) => events[index] ?? []) } },
      // Each event has its own key.
      { ...options, isRepeatable: true },
    )
    answered.forEach((result, place) => {
      results[open[place] ?? 0] = result
    })
    open = open.filter((index) => results[index]?.status === 'failed')
    if (open.length === 0 || ++failures > retries) return results
    await pause(backOff(failures), signal)
  }
}

function isAccepted({ status }: BatchResult): boolean {
  return status === 'accepted'
}
