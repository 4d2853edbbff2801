import { postgresNow, taskIdOf } from '@automation/database'
import {
  type ActionResult,
  type Effect,
  findNextAction,
  parseDuration,
  type ReadyAction,
  settleAction,
} from '@automation/engine'
import type { ActionOf, OutsideAction } from '../effects/effect.js'
import { awaitDecision } from './await-decision.js'
import { awaitEvent, endOf } from './await-event.js'
import { emitEvent } from './emit-event.js'
import { type Execution, end, finish, suspend } from './execution.js'

/**
 * Advances an execution as far as this worker can without a call: tasks and events are noted, to be committed with the execution,
 * and a WAIT suspends it.
 *
 * @returns the next action that needs a call; undefined where the execution is finished or suspended
 */
export function advance(execution: Execution): OutsideAction | undefined {
  const { record, event, evaluation } = execution
  const { compiled } = execution.rule
  if (record.finishedAt !== null) return undefined
  if ('fault' in compiled) {
    end(record, 'failed', compiled.fault)
    return undefined
  }
  evaluation.beginRule()
  for (;;) {
    const next = findNextAction(compiled, event.data, event.acceptedAt, record.results, evaluation)
    if (next === undefined) {
      finish(record)
      return undefined
    }
    const action = next.of.index === 0 ? addKeyWarnings(next, execution) : next
    switch (action.type) {
      case 'CREATE_TASK':
        record.results[action.of.index] = settleAction(action, createTask(execution, action))
        break
      case 'EMIT_EVENT':
        record.results[action.of.index] = settleAction(action, emitEvent(execution, action))
        break
      case 'WAIT': {
        const { waitFor } = action.of
        const { result, dueAt } =
          waitFor === undefined
            ? wait(record.results[action.of.index], action)
            : waitFor.isDecision
              ? awaitDecision(execution, action)
              : awaitEvent(execution, action, waitFor)
        record.results[action.of.index] = result
        if (result.status !== 'scheduled') break
        suspend(record, 'waiting', dueAt)
        return undefined
      }
      default:
        return action
    }
  }
}

/** The first action tells what is to be told of the key. */
function addKeyWarnings(action: ReadyAction, { claim }: Execution): ReadyAction {
  return claim === undefined || claim.warnings.length === 0
    ? action
    : { ...action, warnings: [...claim.warnings, ...action.warnings] }
}

/** About what the row of a task takes beside its texts. */
const taskOverheadBytes = 500

function createTask(execution: Execution, { of, config }: ActionOf<'CREATE_TASK'>): Effect {
  const { record, tasks, budget } = execution
  // As it is written: a control character takes six bytes there.
  const bytes = Buffer.byteLength(JSON.stringify(config)) + taskOverheadBytes
  const refusal = budget.countTask(bytes)
  if (refusal !== undefined) return { status: 'failed', error: refusal, isFinal: true }
  execution.effectBytes += bytes
  const createdAt = new Date(postgresNow())
  const dueInMs = config.dueIn === undefined ? undefined : parseDuration(config.dueIn)
  tasks.push({
    id: taskIdOf(record, of.index, createdAt),
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

/** A WAIT begins when it is reached. Its end is committed, and stays the same from then on. */
function wait(
  known: ActionResult | undefined,
  action: ActionOf<'WAIT'>,
): { result: ActionResult; dueAt: Date } {
  const until = (known?.status === 'scheduled' && known.until) || new Date(endOf(action)).toISOString()
  const dueAt = new Date(until)
  const status = dueAt.getTime() <= postgresNow() ? 'success' : 'scheduled'
  return { result: { ...settleAction(action, { status: 'success' }), status, until }, dueAt }
}
