import type { Scenario } from '../measurements.js'
import type { Rule } from '../workspace.js'

/** The deliveries, and the server that gets them. */
export interface IngestScenario extends Scenario {
  receiver: 'yardstick' | 'product'
  /** Repeats the same delivery; otherwise each delivery is new. */
  isReplay: boolean
  /** Whether a worker runs the events meanwhile. */
  hasWorker: boolean
}

export const scenarios: IngestScenario[] = [
  ...pair('', { isReplay: false, connections: [64] }),
  ...pair('', { isReplay: false, connections: [1] }),
  ...pair(', replays', { isReplay: true, connections: [64] }),
  { name: 'product and worker', receiver: 'product', isReplay: false, hasWorker: true, connections: [64] },
]

export const provider = 'bench'

/** 512 bytes without a `type` of the catalogue, so that each webhook is one event. */
export const body = fillUp(512, { kind: 'order.paid', order: { id: 1001, total: 129.9, currency: 'EUR' } })

/** The usual case: one rule matches and creates a task. */
export const rules: Rule[] = [
  {
    name: 'Rule 1',
    trigger: 'WEBHOOK_RECEIVED',
    conditions: [{ field: 'payload.order.total', operator: 'greater_than', value: 100 }],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Pack order {{payload.order.id}}' } }],
  },
]

/** Neighbours, so that both run under the same conditions. */
function pair(suffix: string, both: { isReplay: boolean; connections: number[] }): IngestScenario[] {
  return (['yardstick', 'product'] as const).map((receiver) => ({
    name: receiver + suffix,
    receiver,
    hasWorker: false,
    ...both,
  }))
}

function fillUp(bytes: number, data: object): string {
  const missing = bytes - JSON.stringify({ ...data, note: '' }).length
  return JSON.stringify({ ...data, note: 'x'.repeat(missing) })
}
