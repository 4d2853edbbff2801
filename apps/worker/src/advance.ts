import {
  type ActionResult,
  type Effect,
  findNextAction,
  parseDuration,
  settleAction,
} from '@automation/engine'
import type { ActionOf, OutsideAction } from './effects/effect.js'
import { emitEvent } from './emit-event.js'
import { endRun, finishRun, type Run, suspendRun } from './run.js'

/**
 * Goes on with a run as far as this worker can by itself: tasks and events are noted, to be committed with the run, and a
 * WAIT suspends it. Answers the action that needs somebody outside; undefined where the run is finished or suspended.
 */
export function advance(run: Run): OutsideAction | undefined {
  const { compiled } = run.rule
  if ('fault' in compiled) {
    endRun(run, 'failed')
    run.error = compiled.fault
    return undefined
  }
  for (;;) {
    const action = findNextAction(compiled, run.event.data, run.startedAt.getTime(), run.results)
    if (action === undefined) {
      finishRun(run)
      return undefined
    }
    switch (action.type) {
      case 'CREATE_TASK':
        run.results[action.of.index] = settleAction(action, createTask(run, action))
        break
      case 'EMIT_EVENT':
        run.results[action.of.index] = settleAction(action, emitEvent(run, action))
        break
      case 'WAIT': {
        const result = wait(run.results[action.of.index], action)
        run.results[action.of.index] = result
        if (result.status === 'success') break
        suspendRun(run, 'waiting', new Date(result.until ?? Number.NaN))
        return undefined
      }
      default:
        return action
    }
  }
}

function createTask(run: Run, { of, config }: ActionOf<'CREATE_TASK'>): Effect {
  const createdAt = new Date()
  const dueInMs = config.dueIn === undefined ? undefined : parseDuration(config.dueIn)
  run.tasks.push({
    actionIndex: of.index,
    title: config.title,
    description: config.description ?? null,
    assigneeId: config.assigneeId ?? null,
    priority: config.priority ?? 'normal',
    dueAt: dueInMs === undefined ? null : new Date(createdAt.getTime() + dueInMs),
    createdAt,
  })
  return { status: 'success' }
}

/** It begins when it is reached, and its end is committed: from then on that stands. */
function wait(known: ActionResult | undefined, action: ActionOf<'WAIT'>): ActionResult {
  const until =
    (known?.status === 'scheduled' && known.until) ||
    new Date(Date.now() + (parseDuration(action.config.duration) ?? 0)).toISOString()
  const isOver = Date.parse(until) <= Date.now()
  return { ...settleAction(action, { status: 'success' }), status: isOver ? 'success' : 'scheduled', until }
}
