import type { RuleAction } from '../fixtures/effects.js'
import type { Tenant } from '../fixtures/product.js'
import { createRule } from './create-rule.js'

/** A rule as it is posted. */
export interface RuleToMake {
  name: string
  trigger: string
  group?: string
  order?: number
  perKey?: object
  conditions: object[]
  actions: RuleAction[]
}

/** In the data of each event that is triggered. */
export function listTags(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `tag-${n}`)
}

/** What the events have as their tag that an action emits. @param tags the number of them in the data of the event */
export function listEmittedTags({ type, config }: RuleAction, tags: number): string[] {
  if (type !== 'EMIT_EVENT') return []
  return config.forEach === undefined ? [''] : listTags(tags)
}

export interface StoredRule extends RuleToMake {
  id: string
  workspaceId: string
}

const someTask = (title = '{{name}}'): RuleAction => ({ type: 'CREATE_TASK', config: { title } })
// So many that five calls in a row which fail, and the rest that the product then takes, do not use them up.
const retry = { attempts: 20, backoff: 'constant', delayMs: 300 }

/** What happens in each workspace: every kind of action, alone and in front of a task, and a rule that must not run. */
export function writeRules(targetUrl: string): RuleToMake[] {
  const call = {
    type: 'SEND_WEBHOOK',
    config: {
      url: `${targetUrl}/{{name}}`,
      headers: { authorization: '{{credentials.ACCESS}}', 'x-key': '{{credentials.KEY}}' },
      body: { name: '{{name}}' },
      capture: { key: 'body.key', forms: 'body.forms', header: 'headers.x-echo' },
    },
  }
  const captured = '{{captured.key}} {{captured.forms}} {{captured.header}}'
  return [
    { name: 'Task', trigger: 'LEAD_CREATED', conditions: [], actions: [someTask()] },
    {
      name: 'Never',
      trigger: 'LEAD_CREATED',
      conditions: [{ field: 'name', operator: 'equals', value: 'nobody' }],
      actions: [someTask()],
    },
    {
      name: 'Call',
      trigger: 'DEAL_WON',
      conditions: [],
      actions: [
        { ...call, retry },
        { type: 'CREATE_TASK', config: { title: '{{name}}', description: captured } },
      ],
    },
    {
      name: 'Wait',
      trigger: 'LEAD_UPDATED',
      conditions: [],
      actions: [{ type: 'WAIT', config: { duration: '1s' } }, someTask()],
    },
    {
      name: 'Emit',
      trigger: 'DEAL_CREATED',
      conditions: [],
      actions: [{ type: 'EMIT_EVENT', config: { eventType: 'TAG_ADDED' } }, someTask()],
    },
    { name: 'Emitted', trigger: 'TAG_ADDED', conditions: [], actions: [someTask()] },
    {
      name: 'Emit each',
      trigger: 'DEAL_CREATED',
      conditions: [],
      actions: [
        {
          type: 'EMIT_EVENT',
          config: { eventType: 'TAG_REMOVED', forEach: 'tags', data: { name: '{{name}}', tag: '{{item}}' } },
        },
        someTask(),
      ],
    },
    { name: 'Emitted of a list', trigger: 'TAG_REMOVED', conditions: [], actions: [someTask()] },
    {
      name: 'Receipt',
      trigger: 'WEBHOOK_RECEIVED',
      conditions: [],
      actions: [someTask('{{payload.data.name}}')],
    },
    // Half of the events go to the first of them, the others to the second, and none to the third.
    { name: 'First', trigger: 'LEAD_CREATED', ...inGroup(10), conditions: [endsLow], actions: [someTask()] },
    { name: 'Never first', trigger: 'LEAD_CREATED', ...inGroup(30), conditions: [], actions: [someTask()] },
    { name: 'Otherwise', trigger: 'LEAD_CREATED', ...inGroup(20), conditions: [], actions: [someTask()] },
    { name: 'Contact', trigger: 'CONTACT_CREATED', conditions: [], actions: [someTask()] },
  ]
}

export async function makeRules(tenant: Tenant, wanted: RuleToMake[]): Promise<StoredRule[]> {
  const rules: StoredRule[] = []
  for (const rule of wanted)
    rules.push({ ...rule, id: await createRule(tenant, rule), workspaceId: tenant.workspaceId })
  return rules
}

const endsLow = { field: 'name', operator: 'matches', value: '[0-4]$' }

function inGroup(order: number) {
  return { group: 'routing', order }
}

/** Whether a rule runs for an event of its type. Without a group it has no conditions, or some that no event meets. */
export function isRun({ name, group, conditions }: RuleToMake, event: { name: string }): boolean {
  if (group === undefined) return conditions.length === 0
  return name === (/[0-4]$/.test(event.name) ? 'First' : 'Otherwise')
}
