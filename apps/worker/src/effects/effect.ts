import { type CallType, cutText, type Effect, type Evaluation, type ReadyAction } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import type { RefusedCall } from './address-guard.js'

/** The actions that call a destination outside of the service. */
export type OutsideAction = Extract<ReadyAction, { type: CallType }>

/** The actions of one type, ready to be performed. */
export type ActionOf<Type extends ReadyAction['type']> = Extract<ReadyAction, { type: Type }>

/** The execution of a call, as far as the call needs it. */
export interface CallContext {
  executionId: string
  rule: { id: string; name: string }
  event: LoadedEvent
  /** Of the execution. */
  startedAt: Date
  /** To it the work of templates is charged. */
  evaluation: Evaluation
  /** Of the call's own span. */
  traceparent?: string | undefined
}

/** Makes one call. A failure is a result; only faults of this program, and Postgres being away, are thrown. */
export type Perform = (action: OutsideAction, context: CallContext) => Promise<Effect>

/** The destination of every mail. */
export const mailServer = 'smtp'

/** The destination of a call, as the gate distinguishes them: our mail server, or the origin of the URL. */
export function destinationOf(action: OutsideAction): string {
  if (action.type === 'SEND_EMAIL') return mailServer
  const { url } = action.config
  if (URL.canParse(url)) return new URL(url).origin
  // One that is a credential has a place of its own, and nobody sees where it leads.
  return action.of.credentials?.find(({ field }) => field === 'url') ? url : 'nowhere'
}

/** The idempotency key of a call: the same for every attempt of the same action of an execution. */
export function idempotencyKey({ of }: ReadyAction, { executionId }: CallContext): string {
  return `${executionId}:${of.index}`
}

export const defaultTimeoutMs = 10_000

/** A failed effect that another attempt cannot change. */
export function refuse(refusal: RefusedCall | string): Effect {
  return { ...failed(refusal), isFinal: true }
}

/** A failed effect; its error is one line of at most 500 characters. */
export function failed(error: unknown): Effect & { status: 'failed' } {
  const message = error instanceof Error ? error.message || error.name : String(error)
  return { status: 'failed', error: cutText(message.replaceAll(/\s+/g, ' '), 500) }
}
