import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@automation/launcher'
import type { Connections } from '../connections.js'
import { createWorkspace, type Rule, type Workspace } from '../workspace.js'

/** An event of a workspace whose rules were all considered for it. */
export interface ExplainedEvent {
  workspace: Workspace
  id: string
}

const eventType = 'LEAD_CREATED'
const data = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  score: 75,
  status: 'new',
  lead: { source: 'web' },
}
const doneWithinMs = 120_000

/** One in ten matches; the others miss by one clause or two, and of these the nearest change is sought. */
export async function prepareEvent(
  { database }: Connections,
  product: Product,
  ruleCount: number,
): Promise<ExplainedEvent> {
  const rules = Array.from({ length: ruleCount }, (_, index) => writeRule(index))
  const workspace = await createWorkspace(database, product, { name: `${ruleCount} rules`, rules })
  const body = JSON.stringify({ data })
  const path = `${workspace.baseUrl}/api/automation-rules/trigger/${eventType}`
  const headers = { ...workspace.headers, prefer: 'respond-async' }
  const response = await fetch(path, { method: 'POST', headers, body })
  if (response.status !== 202) throw new Error(`The event got ${response.status} ${await response.text()}`)
  const { id } = (await response.json()) as { id: string }
  const own = database.forWorkspace(workspace.id)
  for (const startedAt = performance.now(); ; await delay(50)) {
    const { doneAt } = await own.event.findUniqueOrThrow({ where: { id } })
    if (doneAt !== null) return { workspace, id }
    if (performance.now() - startedAt > doneWithinMs) throw new Error('The event is not done')
  }
}

function writeRule(index: number): Rule {
  const limit = index % 10 === 0 ? 50 : 76 + (index % 20)
  return {
    name: `Rule ${index}`,
    trigger: eventType,
    conditions: [
      { field: 'status', operator: 'equals', value: index % 3 === 1 ? 'old' : 'new' },
      { field: 'lead.source', operator: 'in', value: ['web', 'referral'] },
      { field: 'score', operator: 'greater_than', value: limit },
    ],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
  }
}
