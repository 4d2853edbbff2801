import { type ActionResult, maxEmissionDepth, type ReadyAction, settleAction } from '@automation/engine'
import type { SimulatedEvent } from './simulated-event.js'

/** Does an action of an execution for this event. @param emitted takes the events that it emits */
export function perform(
  action: ReadyAction,
  event: SimulatedEvent,
  depth: number,
  emitted: SimulatedEvent[],
): ActionResult {
  const done = settleAction(action, { status: 'success' })
  switch (action.type) {
    case 'EMIT_EVENT':
      return emit(action, event, depth, emitted) ?? done
    case 'CREATE_TASK':
    case 'SEND_EMAIL':
    case 'SEND_WEBHOOK':
    case 'SEND_NOTIFICATION':
    case 'WAIT':
      return done
    default:
      return action satisfies never
  }
}

/** @returns its result, if it emits nothing */
function emit(
  action: Extract<ReadyAction, { type: 'EMIT_EVENT' }>,
  event: SimulatedEvent,
  depth: number,
  emitted: SimulatedEvent[],
): ActionResult | undefined {
  if (depth >= maxEmissionDepth)
    return settleAction(action, {
      status: 'failed',
      error: `The chain of emitted events is ${maxEmissionDepth} long: check the rules for a loop`,
    })
  const { config, events, at } = action
  const all = events?.map(({ data }) => data) ?? [(config.data ?? event.data) as object]
  emitted.push(...all.map((data) => ({ type: config.eventType, at, data })))
  return undefined
}
