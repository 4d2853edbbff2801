import type { Database } from '@automation/database'
import { eventTypeDefinitions } from '@automation/engine'
import type { Product } from '@automation/launcher'
import type { LoadRequest } from '../load/load.js'
import { type Clause, createWorkspace, type Rule } from '../workspace.js'

/** Each has a token, ten rules and an event shape of its own. */
export const tenantCount = 50

const rulesOfTenant = 10
const eventsOfTenant = 8
const regions = ['north', 'east', 'south', 'west', 'centre']
/** The fields of WEBHOOK_RECEIVED are fixed. */
const types = eventTypeDefinitions.filter(({ type }) => type !== 'WEBHOOK_RECEIVED')

/** Creates the tenants, and returns different events of all of them in turn. */
export async function createTenants(database: Database, product: Product): Promise<LoadRequest[]> {
  const requests: LoadRequest[][] = []
  for (let tenant = 0; tenant < tenantCount; tenant++) {
    const { type } = shapeOf(tenant)
    const rules = rulesOf(tenant)
    const { headers } = await createWorkspace(database, product, { name: `Tenant ${tenant}`, rules })
    requests.push(
      Array.from({ length: eventsOfTenant }, (_, event) => ({
        path: `/api/automation-rules/trigger/${type}`,
        headers,
        payload: JSON.stringify({ data: eventOf(tenant, event) }),
      })),
    )
  }
  return Array.from({ length: eventsOfTenant }, (_, event) => requests.map((own) => own[event] ?? [])).flat(2)
}

function shapeOf(tenant: number) {
  return types[tenant % types.length] as (typeof types)[number]
}

/** The example of its type with fields of the tenant, from 0.3 to 2 KB. */
export function eventOf(tenant: number, event: number): object {
  return {
    ...shapeOf(tenant).example,
    reference: `tenant-${tenant}-${event}`,
    region: regions[tenant % regions.length],
    total: 100 + event,
    [`detail_${tenant}`]: { source: 'web', step: tenant, items: itemsOf(tenant, event) },
  }
}

function itemsOf(tenant: number, event: number): object[] {
  const count = 1 + ((tenant * 7 + event * 3) % 20)
  return Array.from({ length: count }, (_, item) => ({
    sku: `sku-${tenant}-${item}`,
    quantity: 1 + (item % 4),
    price: 9.5 + event,
  }))
}

/** The usual case: one of ten rules matches and creates a task, and the last condition decides. */
export function rulesOf(tenant: number): Rule[] {
  const common: Clause[] = [
    { field: 'reference', operator: 'starts_with', value: `tenant-${tenant}-` },
    { field: 'region', operator: 'equals', value: regions[tenant % regions.length] },
    { field: `detail_${tenant}.source`, operator: 'in', value: ['web', 'referral'] },
    { field: `detail_${tenant}.step`, operator: 'equals', value: tenant },
  ]
  return Array.from({ length: rulesOfTenant }, (_, rule) => ({
    name: `Rule ${rule + 1}`,
    trigger: shapeOf(tenant).type,
    conditions: [
      ...common,
      { field: 'total', operator: 'greater_than', value: rule === 0 ? 90 : 200 + rule },
    ],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Handle {{reference}} in {{region}}' } }],
  }))
}
