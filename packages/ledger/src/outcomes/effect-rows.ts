import { newId } from '@automation/database'
import type { RecordableExecution } from './execution-record.js'

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
    for (const { id, workspaceId, type, data, depth, rootId } of emitted) {
      events.push({ id, workspace_id: workspaceId, type, data, depth, caused_by: record.id, root_id: rootId })
    }
  }
  return { tasks, events }
}

/**
 * Responses of mail servers and web servers may hold what Postgres refuses in text: NUL and unpaired surrogates. Usually there is
 * nothing to replace: JSON.stringify escapes no other character as \\u but control characters.
 */
export function toStorableJson(rows: object[]): string {
  const json = JSON.stringify(rows)
  return json.includes('\\u') ? JSON.stringify(rows, storable) : json
}

function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value
}
