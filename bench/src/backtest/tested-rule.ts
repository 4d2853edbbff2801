import type { Stage } from '../product.js'
import { insertEvents } from '../stored/insert-events.js'
import { createWorkspace, type Rule, type Workspace } from '../workspace.js'

const events = 200_000
export const path = '/api/automation-rules/backtests'

/** Two conditions. A fifth of the events fulfils those of the rule, and half of the events those of the definition. */
const rule: Rule = {
  name: 'Hot leads',
  trigger: 'LEAD_CREATED',
  conditions: [
    { field: 'status', operator: 'equals', value: 'new' },
    { field: 'score', operator: 'greater_than', value: 80 },
  ],
  actions: [
    { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello {{name}}', template: 'hello' } },
  ],
}
const definition = {
  trigger: rule.trigger,
  conditions: [rule.conditions[0], { field: 'score', operator: 'greater_than', value: 49 }],
  actions: rule.actions,
}

/** A rule in a workspace with many events. */
export interface Tested {
  workspace: Workspace
  ruleId: string
}

/** @param every every n-th event is of the trigger */
export async function createTested({ database, product, postgres }: Stage, every: number): Promise<Tested> {
  const workspace = await createWorkspace(database, product, { name: 'History', rules: [rule] })
  const { id: ruleId } = await database.forWorkspace(workspace.id).rule.findFirstOrThrow()
  await insertEvents(postgres, workspace.id, { events, every })
  return { workspace, ruleId }
}

interface Backtest {
  id: string
  status: string
  report: { scanned: number; considered: number } | null
}

export function create({ workspace, ruleId }: Tested, pace: 'gentle' | 'full'): Promise<Backtest> {
  return call(workspace, 'POST', path, [202], { ruleId, definition, pace })
}

export async function call(
  { baseUrl, headers }: Workspace,
  method: string,
  url: string,
  expected: number[] = [200],
  body?: object,
): Promise<Backtest> {
  const { 'content-type': type, ...others } = headers as Record<string, string>
  const response = await fetch(`${baseUrl}${url}`, {
    method,
    headers: body ? { ...others, 'content-type': type ?? '' } : others,
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!expected.includes(response.status)) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return (response.status === 204 ? {} : JSON.parse(text)) as Backtest
}
