import type { Scenario } from '../measurements.js'
import type { Rule } from '../workspace.js'

export type Receiver = 'plain' | 'grouping' | 'product'

/** The deliveries, and the server that gets them. */
export interface IngestScenario extends Scenario {
  receiver: Receiver
  /** Repeats known deliveries; otherwise each delivery is new. */
  isReplay: boolean
  /** Whether a worker runs the events meanwhile. */
  hasWorker: boolean
}

export const names = {
  plain: 'plain service',
  grouping: 'plain service, group commit',
  product: 'product, no worker',
  working: 'product and worker',
}

export const scenarios: IngestScenario[] = [64, 1].flatMap((connections) => [
  { ...make('plain', connections), name: names.plain },
  { ...make('grouping', connections), name: names.grouping },
  { ...make('product', connections), name: names.product },
  { ...make('product', connections), name: names.working, hasWorker: true },
])
scenarios.push(
  ...(['plain', 'grouping', 'product'] as const).map((receiver) => ({
    ...make(receiver, 64),
    name: `${names[receiver]}, replays`,
    isReplay: true,
  })),
)

export const provider = 'bench'
/** The deliveries that replays repeat, in turn. */
export const knownDeliveries = 10_000

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

function make(receiver: Receiver, connections: number) {
  return { receiver, connections: [connections], isReplay: false, hasWorker: false }
}

function fillUp(bytes: number, data: object): string {
  const missing = bytes - JSON.stringify({ ...data, note: '' }).length
  return JSON.stringify({ ...data, note: 'x'.repeat(missing) })
}
