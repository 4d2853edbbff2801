import { setImmediate as nextTurn } from 'node:timers/promises'
import { newId } from '@automation/database'
import type { RecordableExecution } from './execution-record.js'

export type GiveWay = (tookMs: number) => Promise<void>

/**
 * The rows of tasks and emitted events that are committed with executions, under the names of their columns: one JSON text for
 * a table is cheaper to send and parse than an array for each column.
 */
export function effectRowsOf(executions: RecordableExecution[]): { tasks: object[]; events: object[] } {
  const tasks: object[] = []
  const events: object[] = []
  for (const { record, event, tasks: newTasks, emitted } of executions) {
    for (const task of newTasks) {
      tasks.push({
        id: newId(),
        workspace_id: event.workspaceId,
        execution_id: record.id,
        action_index: task.actionIndex,
        rule_id: record.ruleId,
        title: task.title,
        description: task.description,
        assignee_id: task.assigneeId,
        priority: task.priority,
        due_at: task.dueAt,
        created_at: task.createdAt,
      })
    }
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

/** After so many characters others have the event loop. */
const sliceLength = 131_072
/** As JSON.stringify writes them. After an odd number of backslashes, another one is text. */
const nul = /(?<!\\)((?:\\\\)*)\\u0000/g
const unpairedSurrogate = /(?<!\\)((?:\\\\)*)\\ud[89a-f]../g
const mayBeUnstorable = /\\u(?:0000|d[89a-f])/

/**
 * Writes rows as JSON, each by itself, for as long as a slice of time has room. Responses of mail servers and web servers may hold what Postgres
 * refuses in text: NUL, which is left out, and unpaired surrogates, which are replaced.
 *
 * @param giveWay lets others have the event loop after a slice that took so long (ms)
 */
export async function toStorableJson(rows: object[], giveWay: GiveWay = () => nextTurn()): Promise<string> {
  const texts: string[] = []
  let length = 0
  let begunAt = performance.now()
  for (const row of rows) {
    if (length > sliceLength) {
      await giveWay(performance.now() - begunAt)
      length = 0
      begunAt = performance.now()
    }
    const json = JSON.stringify(row)
    length += json.length
    texts.push(mayBeUnstorable.test(json) ? replaceUnstorable(json) : json)
  }
  return `[${texts.join(',')}]`
}

/** In the text: to write the row again would call a function for each of its values, and a function for each match would take a second. */
function replaceUnstorable(json: string): string {
  return json.replace(nul, '$1').replace(unpairedSurrogate, '$1\ufffd')
}
