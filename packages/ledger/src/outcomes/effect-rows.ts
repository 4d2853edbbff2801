import { yieldEvery } from '@automation/admission'
import { writeJson } from '@automation/database'
import { mayBeLarge } from './cap-results.js'
import type { RecordableExecution, TaskToCreate } from './execution-record.js'

export type TaskRow = ReturnType<typeof taskRow>

/**
 * The rows of tasks and emitted events that are committed with executions, under the names of their columns: one JSON text for
 * a table is cheaper to send and parse than an array for each column.
 */
export function effectRowsOf(executions: RecordableExecution[]): { tasks: TaskRow[]; events: object[] } {
  const tasks: TaskRow[] = []
  const events: object[] = []
  for (const execution of executions) {
    const { record, emitted } = execution
    for (const task of execution.tasks) tasks.push(taskRow(execution, task))
    for (const { id, workspaceId, type, data, depth, rootId, jobId } of emitted) {
      events.push({
        id,
        workspace_id: workspaceId,
        type,
        data,
        depth,
        caused_by: record.id,
        root_id: rootId,
        job_id: jobId === id ? null : jobId,
      })
    }
  }
  return { tasks, events }
}

function taskRow({ record, event }: RecordableExecution, task: TaskToCreate) {
  return {
    id: task.id,
    workspace_id: event.workspaceId,
    execution_id: record.id,
    action_index: task.actionIndex,
    rule_id: record.handlerId,
    title: task.title,
    description: task.description,
    assignee_id: task.assigneeId,
    priority: task.priority,
    due_ms: task.dueAt?.getTime(),
    created_ms: task.createdAt.getTime(),
  }
}

/** After so long (ms) others have the event loop. */
const sliceMs = 10
/** To write rows together takes half as long: so many at once at most, and about so many characters. */
const atOnce = 25
const groupLength = 16_384

export function writeTasks(tasks: Pick<TaskRow, 'title' | 'description'>[]): Promise<string> {
  return writeRows(tasks, asItIs, ({ title, description }) => title.length + (description?.length ?? 0))
}

/** The data of one event may have a megabyte. */
export function writeEvents(events: object[]): Promise<string> {
  return writeRows(events, asItIs, () => groupLength)
}

/** About how many characters the row of an execution has. */
export function lengthOfExecution({ record: { results } }: RecordableExecution): number {
  return results.some(mayBeLarge) ? groupLength : (1 + results.length) * 200
}

function asItIs<Row extends object>(row: Row): Row {
  return row
}

/**
 * Writes rows as JSON, some at a time, for as long as a slice of time has room.
 *
 * @param rowOf the row of an item
 * @param lengthOf about how many characters it has; where only its maximum is known, so many that it is written by itself
 */
export async function writeRows<Item>(
  items: Item[],
  rowOf: (item: Item) => object,
  lengthOf: (item: Item) => number,
): Promise<string> {
  const texts: string[] = []
  for (let begin = 0; begin < items.length; ) {
    await yieldEvery(sliceMs)
    const end = findEnd(items, begin, lengthOf)
    texts.push(writeJson(items.slice(begin, end).map(rowOf)).slice(1, -1))
    begin = end
  }
  return `[${texts.join(',')}]`
}

/** @returns the end of the group that begins there: it has one item at least */
function findEnd<Item>(items: Item[], begin: number, lengthOf: (item: Item) => number): number {
  const most = Math.min(items.length, begin + atOnce)
  let length = lengthOf(items[begin] as Item)
  let end = begin + 1
  while (end < most) {
    length += lengthOf(items[end] as Item)
    if (length > groupLength) break
    end++
  }
  return end
}
