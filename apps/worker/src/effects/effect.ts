import type { Effect, ReadyAction } from '@automation/engine'
import type { LoadedEvent } from '../load-events.js'

/** The actions that need somebody outside of the service. */
export type OutsideAction = Extract<
  ReadyAction,
  { type: 'SEND_EMAIL' | 'SEND_WEBHOOK' | 'SEND_NOTIFICATION' }
>

/** The actions of one type, ready to be performed. */
export type ActionOf<Type extends ReadyAction['type']> = Extract<ReadyAction, { type: Type }>

/** What an outside call knows of its run. */
export interface CallContext {
  executionId: string
  rule: { id: string; name: string }
  event: LoadedEvent
  /** Of the run. */
  startedAt: Date
  /** Where it is traced: the place of this call. */
  traceparent?: string | undefined
}

/** Makes one outside call. That it failed is a result; only what should not be possible is thrown. */
export type Perform = (action: OutsideAction, context: CallContext) => Promise<Effect>

/** The key under which an outside call may be repeated: the same for every attempt of the same action of a run. */
export function idempotencyKey({ of }: ReadyAction, { executionId }: CallContext): string {
  return `${executionId}:${of.index}`
}

export const defaultTimeoutMs = 10_000

/** A failure as one line of at most 500 characters. */
export function failed(error: unknown): Effect & { status: 'failed' } {
  const message = error instanceof Error ? error.message || error.name : String(error)
  return { status: 'failed', error: message.replaceAll(/\s+/g, ' ').slice(0, 500) }
}
