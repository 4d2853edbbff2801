import { setImmediate as nextTurn } from 'node:timers/promises'
import { newId } from '@automation/database'
import type { RecordableExecution, TaskToCreate } from './execution-record.js'

export type GiveWay = (tookMs: number) => Promise<void>

type TaskRow = ReturnType<typeof taskRow>
export type TaskTexts = Pick<TaskRow, 'title' | 'description'>

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
    id: newId(),
    workspace_id: event.workspaceId,
    execution_id: record.id,
    action_index: task.actionIndex,
    rule_id: record.ruleId,
    title: task.title,
    description: task.description,
    assignee_id: task.assigneeId,
    priority: task.priority,
    due_ms: task.dueAt?.getTime(),
    created_ms: task.createdAt.getTime(),
  }
}

/** After so many characters others have the event loop. */
const sliceLength = 131_072
/** As JSON.stringify writes them. After an odd number of backslashes, another one is text. */
const nul = /(?<!\\)((?:\\\\)*)\\u0000/g
const unpairedSurrogate = /(?<!\\)((?:\\\\)*)\\ud[89a-f]../g
const mayBeUnstorable = /\\u(?:0000|d[89a-f])/

/** To write rows together takes half as long. So many executions have half a megabyte at most. */
const executionsAtOnce = 8
const tasksAtOnce = 25
/** A task with a longer text (characters) is written by itself, and so is each task beside it. */
const longText = 4_096

export function writeExecutions(rows: object[], giveWay?: GiveWay): Promise<string> {
  return toStorableJson(rows, executionsAtOnce, giveWay)
}

export function writeTasks(rows: TaskTexts[], giveWay?: GiveWay): Promise<string> {
  return toStorableJson(rows, rows.some(isLong) ? 1 : tasksAtOnce, giveWay)
}

/** The data of one event may have a megabyte. */
export function writeEvents(rows: object[], giveWay?: GiveWay): Promise<string> {
  return toStorableJson(rows, 1, giveWay)
}

function isLong({ title, description }: TaskTexts): boolean {
  return title.length + (description?.length ?? 0) > longText
}

/**
 * Writes rows as JSON, some at a time, for as long as a slice of time has room. Responses of mail servers and web servers may hold what Postgres
 * refuses in text: NUL, which is left out, and unpaired surrogates, which are replaced.
 *
 * @param giveWay lets others have the event loop after a slice that took so long (ms)
 */
export async function toStorableJson(
  rows: object[],
  atOnce: number,
  giveWay: GiveWay = () => nextTurn(),
): Promise<string> {
  const texts: string[] = []
  let length = 0
  let begunAt = performance.now()
  for (let next = 0; next < rows.length; next += atOnce) {
    if (length > sliceLength) {
      await giveWay(performance.now() - begunAt)
      length = 0
      begunAt = performance.now()
    }
    const json = JSON.stringify(rows.slice(next, next + atOnce)).slice(1, -1)
    length += json.length
    texts.push(mayBeUnstorable.test(json) ? replaceUnstorable(json) : json)
  }
  return `[${texts.join(',')}]`
}

/** In the text: to write the row again would call a function for each of its values, and a function for each match would take a second. */
function replaceUnstorable(json: string): string {
  return json.replace(nul, '$1').replace(unpairedSurrogate, '$1\ufffd')
}
