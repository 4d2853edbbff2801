import type { NewEvent } from '@automation/ledger'
import type { Span } from '@automation/process/telemetry'
import type { Inbox } from '@automation/queue'

/** Wraps an inbox: each acceptance is a span in the trace of its request, and its events carry the traceparent. */
export function traceInbox(inbox: Inbox, findSpan: () => Span | undefined): Inbox {
  async function trace<Result>(events: NewEvent[], accept: () => Promise<Result>): Promise<Result> {
    const span = findSpan()?.begin('accept', 'producer', {
      'automation.event_ids': events.map(({ id }) => id),
      'automation.workspace_id': events[0]?.workspaceId ?? '',
    })
    if (span === undefined) return accept()
    for (const event of events) event.traceparent = span.traceparent
    try {
      const result = await accept()
      span.end()
      return result
    } catch (error) {
      span.end(true)
      throw error
    }
  }

  return {
    accept: (event, replyTo) => trace([event], () => inbox.accept(event, replyTo)),
    acceptAll: (events) => trace(events, () => inbox.acceptAll(events)),
    acceptOnce: (input, replyTo) => trace([input.event], () => inbox.acceptOnce(input, replyTo)),
    acceptWebhook: (receipt, events) => trace(events, () => inbox.acceptWebhook(receipt, events)),
    resume(execution) {
      const traceparent = findSpan()?.traceparent
      inbox.resume(traceparent === undefined ? execution : { ...execution, traceparent })
    },
    publish: (events) => inbox.publish(events),
    close: () => inbox.close(),
  }
}
