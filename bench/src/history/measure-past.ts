import { firstIdOf } from '@automation/database'
import type { Product } from '@automation/launcher'
import { measurePace } from '../backtest/measure-pace.js'
import { clearTables } from '../clear-traces.js'
import { pidsOf } from '../cpu-time.js'
import type { LoadRequest } from '../load/load.js'
import { measure } from '../measure.js'
import { addresses, addressOf } from '../stored/history-rows.js'
import { insertHistory } from '../stored/insert-history.js'
import type { Figures } from '../table.js'
import { eventData, triggerPath } from '../usual-case.js'
import type { Past } from './open-histories.js'

/** What is asked of a workspace with a history. */
export interface Question {
  name: string
  connections: number
  /** undefined: a backtest, which is no request. */
  requestsOf: ((past: Past) => LoadRequest[] | Promise<LoadRequest[]>) | undefined
}

const explained = 100

export const trigger = 'trigger'
export const questions: Question[] = [
  { name: trigger, connections: 32, requestsOf: listTriggers },
  ...[
    { name: 'list of events', path: '/api/events?limit=50' },
    { name: 'list of executions', path: '/api/executions?limit=50' },
    { name: 'list of tasks', path: '/api/tasks?limit=50' },
    { name: 'health', path: '/api/automation-rules/health' },
    { name: 'attention', path: '/api/automation-rules/attention' },
    { name: 'search', path: `/api/events?limit=50&q=${addressOf(addresses - 1)}` },
  ].map(({ name, path }) => ({ name, connections: 4, requestsOf: (past: Past) => listReads(past, [path]) })),
  { name: 'why', connections: 4, requestsOf: listExplanations },
  { name: 'backtest', connections: 1, requestsOf: undefined },
]

/**
 * @param isSmall it is stored anew before each measurement, since triggers add more than it has
 */
export async function measurePast(
  servers: Product,
  past: Past,
  { label, isSmall, question }: { label: string; isSmall: boolean; question: Question },
  seconds: number,
): Promise<Figures> {
  const { stage, history, workspaces } = past
  const { product, postgres } = stage
  if (isSmall) {
    await clearTables(postgres)
    await insertHistory(postgres, history)
    await postgres.query('VACUUM (ANALYZE) events, executions, tasks')
  }
  const { requestsOf, connections, name } = question
  const isTrigger = name === trigger
  const workers = isTrigger || requestsOf === undefined ? product.workers : []
  const pids = pidsOf(servers, product.apis, workers)
  const [workspace] = workspaces
  const [pattern] = history.patterns
  if (workspace === undefined || pattern === undefined) throw new Error('There is no workspace')
  if (requestsOf === undefined) return measurePace(stage, pids, label, { workspace, ruleId: pattern.ruleId })
  const order = {
    ...{ origins: [workspace.baseUrl], expectedStatus: 200, connections },
    requests: await requestsOf(past),
  }
  return measure(stage, {
    label,
    order,
    pids,
    seconds,
    ...(isTrigger && { done: 'with responses' as const }),
  })
}

function listTriggers({ workspaces: [workspace] }: Past): LoadRequest[] {
  const { headers = {} } = workspace ?? {}
  return [{ path: triggerPath, headers, payload: JSON.stringify({ data: eventData }) }]
}

function listReads({ workspaces: [workspace] }: Past, paths: string[]): LoadRequest[] {
  const { headers = {} } = workspace ?? {}
  return paths.map((path) => ({ path, headers }))
}

/** Events of all ages. */
async function listExplanations(past: Past): Promise<LoadRequest[]> {
  const { stage, workspaces, history } = past
  const spanMs = history.days * 24 * 60 * 60 * 1_000
  const paths: string[] = []
  for (let place = 0; place < explained; place++) {
    const { rows } = await stage.postgres.query<{ id: string }>(
      `SELECT id FROM events WHERE workspace_id = $1::uuid AND (workspace_id, id) >= ($1::uuid, $2::uuid)
       ORDER BY workspace_id, id LIMIT 1`,
      [workspaces[0]?.id, firstIdOf(history.endsAt - spanMs * (1 - place / explained))],
    )
    paths.push(...rows.map(({ id }) => `/api/events/${id}/why`))
  }
  return listReads(past, paths)
}
