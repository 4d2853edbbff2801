import type { Effect, ReadyAction } from '@automation/engine'
import type { ReadyRule } from '../compiled-rules.js'
import type { LoadedEvent } from '../load-events.js'

/** What an action knows of its run. */
export interface RunContext {
  executionId: string
  rule: ReadyRule
  event: LoadedEvent
  startedAt: Date
  /** Tasks to be committed together with the outcome. */
  tasks: TaskToMake[]
}

export interface TaskToMake {
  actionIndex: number
  title: string
  description: string | null
  assigneeId: string | null
  priority: string
  dueAt: Date | null
}

/** Does one action. That it failed is a result; only what should not be possible is thrown. */
export type Perform = (action: ReadyAction, context: RunContext) => Promise<Effect>

/** The actions of one type, ready to be performed. */
export type ActionOf<Type extends ReadyAction['type']> = Extract<ReadyAction, { type: Type }>

/** The key under which an outside call may be repeated: the same for every delivery of the same action. */
export function idempotencyKey(action: ReadyAction, { executionId }: RunContext): string {
  return `${executionId}:${action.index}`
}

export const defaultTimeoutMs = 10_000

/** A failure as one line of at most 500 characters. */
export function failed(error: unknown): Effect {
  const message = error instanceof Error ? error.message || error.name : String(error)
  return { status: 'failed', error: message.replaceAll(/\s+/g, ' ').slice(0, 500) }
}
