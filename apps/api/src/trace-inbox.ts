import type { Inbox, NewEvent } from '@automation/inbox'
import type { Span } from '@automation/telemetry'

/** An inbox whose acceptances are steps of the traces of their requests, and which sends these along with the events. */
export function traceInbox(inbox: Inbox, findSpan: () => Span | undefined): Inbox {
  async function step<Result>(events: NewEvent[], accept: () => Promise<Result>): Promise<Result> {
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
    accept: (event, replyTo) => step([event], () => inbox.accept(event, replyTo)),
    acceptOnce: (wanted, replyTo) => step([wanted.event], () => inbox.acceptOnce(wanted, replyTo)),
    acceptWebhook: (receipt, events) => step(events, () => inbox.acceptWebhook(receipt, events)),
    resume(run) {
      const traceparent = findSpan()?.traceparent
      inbox.resume(traceparent === undefined ? run : { ...run, traceparent })
    },
    announce: inbox.announce,
    close: inbox.close,
  }
}
