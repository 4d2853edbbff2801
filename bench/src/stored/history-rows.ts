import { hash } from 'node:crypto'
import { executionIdOf } from '@automation/database'
import { eventData, eventType } from '../usual-case.js'
import { type CopiedTable, lineOf } from './copy-rows.js'

/** What a real event of a workspace has left, as far as those of the same rules have it in common. */
export interface Pattern {
  workspaceId: string
  ruleSetId: string
  rulesVersion: number
  ruleId: string
  ruleVersion: number
  results: string
  taskTitle: string
  taskPriority: string
}

/** Events of several workspaces, each as often as the others, from some days ago until now, with their executions and tasks. */
export interface History {
  patterns: readonly Pattern[]
  events: number
  days: number
  /** Epoch ms. The same end, number and patterns give the same rows. */
  endsAt: number
}

/** The lines of one event for COPY. An execution that has failed has no task. */
export interface HistoryLines {
  events: string
  executions: string
  tasks: string | undefined
}

export const copiedTables: Record<keyof HistoryLines, CopiedTable> = {
  events: {
    table: 'events',
    columns: [
      ...['id', 'workspace_id', 'type', 'data', 'accepted_at', 'done_at'],
      ...['rule_set_id', 'rules_version'],
    ],
  },
  executions: {
    table: 'executions',
    columns: [
      ...[
        'id',
        'workspace_id',
        'event_id',
        'event_type',
        'handler_id',
        'rule_version',
        'status',
        'results',
        'error',
      ],
      ...['started_at', 'finished_at'],
    ],
  },
  tasks: {
    table: 'tasks',
    columns: [
      ...['id', 'workspace_id', 'execution_id', 'action_index', 'rule_id', 'title', 'priority', 'created_at'],
    ],
  },
}

const seed = 72
const dayMs = 24 * 60 * 60 * 1_000
const failedEvery = 50
const error = 'The task has no title'
const failedResults = JSON.stringify([{ action: 'CREATE_TASK', status: 'failed', error }])
/** Of an event, from its acceptance on. */
const runMs = 15

/** The rows of event number n. What is drawn follows from the seed and the number alone. */
export function linesOf({ patterns, events, days, endsAt }: History, n: number): HistoryLines {
  const digest = hash('md5', `${seed} ${n}`)
  const acceptedAt = Math.floor(endsAt - days * dayMs * (1 - n / events))
  const pattern = patterns[numberIn(digest, 18) % patterns.length] as Pattern
  const hasFailed = n % failedEvery === 0
  const id = idOf(acceptedAt, digest)
  const executionId = executionIdOf({ id, addressee: null }, pattern.ruleId)
  const accepted = new Date(acceptedAt).toISOString()
  const done = new Date(acceptedAt + runMs).toISOString()
  const { workspaceId, ruleId, ruleVersion } = pattern
  return {
    events: lineOf([
      ...[id, workspaceId, eventType, dataOf(numberIn(digest, 25)), accepted, done],
      ...[pattern.ruleSetId, pattern.rulesVersion],
    ]),
    executions: lineOf([
      ...[executionId, workspaceId, id, eventType, ruleId, ruleVersion],
      ...(hasFailed ? ['failed', failedResults, error] : ['succeeded', pattern.results, null]),
      ...[accepted, done],
    ]),
    tasks: hasFailed
      ? undefined
      : lineOf([
          ...[idOf(acceptedAt + runMs, hash('md5', digest)), workspaceId, executionId, 0],
          ...[ruleId, pattern.taskTitle, pattern.taskPriority, done],
        ]),
  }
}

function dataOf(draw: number): string {
  return JSON.stringify({ ...eventData, email: addressOf(draw % addresses), score: draw % 100 })
}

/** Each is in as many events as any other one: a search for one reads all events that a page may read. */
export const addresses = 5_000

export function addressOf(place: number): string {
  return `ada${place}@example.com`
}

/** Of seven digits from a place on. */
function numberIn(digest: string, place: number): number {
  return Number.parseInt(digest.slice(place, place + 7), 16)
}

/** A UUID v7: in order of time, as those of the product. */
function idOf(ms: number, digest: string): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`
}
