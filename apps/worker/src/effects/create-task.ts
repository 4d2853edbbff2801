import { type Effect, parseDuration } from '@automation/engine'
import type { ActionOf, RunContext } from './effect.js'

/** Notes the task; the ledger commits it together with the outcome, so there is exactly one. */
export function createTask(
  { index, config }: ActionOf<'CREATE_TASK'>,
  { startedAt, tasks }: RunContext,
): Effect {
  const dueInMs = config.dueIn === undefined ? undefined : parseDuration(config.dueIn)
  tasks.push({
    actionIndex: index,
    title: config.title,
    description: config.description ?? null,
    assigneeId: config.assigneeId ?? null,
    priority: config.priority ?? 'normal',
    dueAt: dueInMs === undefined ? null : new Date(startedAt.getTime() + dueInMs),
  })
  return { status: 'success' }
}
