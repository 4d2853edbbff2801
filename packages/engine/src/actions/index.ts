import type { Static } from 'typebox'
import { createTask } from './create-task.js'
import { emitEvent } from './emit-event.js'
import { sendEmail } from './send-email.js'
import { sendNotification } from './send-notification.js'
import { sendWebhook } from './send-webhook.js'
import { wait } from './wait.js'

/** All action types. A new one needs one file and one line here: validation, planning and OpenAPI follow. */
export const actionDefinitions = [
  createTask,
  sendEmail,
  sendWebhook,
  sendNotification,
  wait,
  emitEvent,
] as const

export type KnownAction = (typeof actionDefinitions)[number]
export type ActionType = KnownAction['type']
/** The types whose actions call somebody outside. */
export type CallType = Extract<KnownAction, { doneBy: 'call' }>['type']

const callTypes: ReadonlySet<string> = new Set(
  actionDefinitions.filter(({ doneBy }) => doneBy === 'call').map(({ type }) => type),
)

export function isCallType(type: string): type is CallType {
  return callTypes.has(type)
}

const typesDoneByCommit: ReadonlySet<string> = new Set(
  actionDefinitions.filter(({ doneBy }) => doneBy === 'commit').map(({ type }) => type),
)

export function isDoneByCommit(type: ActionType): boolean {
  return typesDoneByCommit.has(type)
}

/** The config of an action type: in a rule with placeholders, for an effect rendered. */
export type ActionConfig<Name extends ActionType = ActionType> = Static<
  Extract<KnownAction, { type: Name }>['config']
>
