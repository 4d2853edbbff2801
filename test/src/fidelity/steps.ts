import type { Random } from '@automation/check/corpus'
import type { Answer, Tenant } from '../fixtures/product.js'
import { type Definition, type KnownRule, named, writeDefinition, writeEvents } from './rule-book.js'

const path = '/api/automation-rules'
/** Of a workspace: enough to meet each event with some, and few enough for a machine of two cores. */
const [fewestRules, mostRules] = [8, 14]

/** A workspace, and what its editor knows of it. */
export interface Desk {
  tenant: Tenant
  /** Only the last ones are edited. */
  rules: KnownRule[]
  random: Random
  /** An accepted event, of the last ones. */
  pickEvent(): string | undefined
}

/** @returns whether it was done: the product may refuse it, such as a rule that is a shadow */
type Step = (desk: Desk) => Promise<boolean>

/** Some rules are never changed: what they did is compared over the whole run. */
export const steadyRules = 3

/** What happens while events are evaluated, with its weight. */
export const steps: Record<string, { weight: number; run: Step }> = {
  'conditions edited': { weight: 30, run: editConditions },
  'trigger edited': { weight: 5, run: editTrigger },
  toggled: { weight: 20, run: toggle },
  created: { weight: 6, run: create },
  deleted: { weight: 6, run: remove },
  'version restored': { weight: 5, run: restore },
  'draft promoted': { weight: 5, run: promote },
  'shadowed and back': { weight: 4, run: shadow },
  retried: { weight: 25, run: retry },
  replayed: { weight: 25, run: replay },
  'executed by hand': { weight: 10, run: execute },
}

export async function addRule({ tenant, rules }: Desk, definition: Definition, isMoving = false) {
  const { status, body } = await tenant.call('POST', path, definition)
  if (status !== 201) throw new Error(`A rule got ${status} ${JSON.stringify(body)}`)
  rules.push({ id: body.id, definition, isMoving })
}

async function editConditions(desk: Desk): Promise<boolean> {
  const rule = pickRule(desk)
  const { conditions, actions } = writeDefinition(desk.random, rule.definition.trigger)
  return change(desk, rule, { conditions, actions })
}

async function editTrigger(desk: Desk): Promise<boolean> {
  const rule = pickRule(desk, ({ isMoving }) => isMoving)
  return change(desk, rule, writeDefinition(desk.random))
}

async function change({ tenant }: Desk, rule: KnownRule, fields: Partial<Definition>): Promise<boolean> {
  const answer = await tenant.call('PUT', `${path}/${rule.id}`, fields)
  if (isDone(answer)) rule.definition = { ...rule.definition, ...fields }
  return isDone(answer)
}

async function toggle(desk: Desk): Promise<boolean> {
  return isDone(await desk.tenant.call('PATCH', `${path}/${pickRule(desk).id}/toggle`))
}

async function create(desk: Desk): Promise<boolean> {
  if (desk.rules.length >= mostRules) return remove(desk)
  await addRule(desk, writeDefinition(desk.random), desk.random.chance(0.3))
  return true
}

async function remove(desk: Desk): Promise<boolean> {
  if (desk.rules.length <= fewestRules) return create(desk)
  const rule = pickRule(desk)
  const answer = await desk.tenant.call('DELETE', `${path}/${rule.id}`)
  if (isDone(answer)) desk.rules.splice(desk.rules.indexOf(rule), 1)
  return isDone(answer)
}

async function restore(desk: Desk): Promise<boolean> {
  const { id } = pickRule(desk, ({ isMoving }) => !isMoving)
  return isDone(await desk.tenant.call('POST', `${path}/${id}/versions/1/restore`))
}

async function promote(desk: Desk): Promise<boolean> {
  const { tenant, random } = desk
  const { id, definition } = pickRule(desk)
  const saved = await tenant.call('PUT', `${path}/${id}/draft`, writeDefinition(random, definition.trigger))
  if (!isDone(saved)) return false
  const { body } = await tenant.call('GET', `${path}/${id}/draft`)
  const headers = { 'if-match': body.etag }
  return isDone(await tenant.call('POST', `${path}/${id}/draft/promote`, {}, headers))
}

async function shadow(desk: Desk): Promise<boolean> {
  const { id } = pickRule(desk)
  const asShadow = await desk.tenant.call('PUT', `${path}/${id}`, { mode: 'shadow' })
  const live = await desk.tenant.call('PUT', `${path}/${id}`, { mode: 'live', isActive: true })
  return isDone(asShadow) && isDone(live)
}

/** One of the last executions that failed, with the version that it had or the present one. */
async function retry(desk: Desk): Promise<boolean> {
  const { tenant, random } = desk
  const { body } = await tenant.call('GET', '/api/executions?status=failed&limit=50')
  const failed: { id: string }[] = body?.executions ?? []
  if (failed.length === 0) {
    await failOnce(desk)
    return false
  }
  const version = random.pick(['same', 'latest'] as const)
  return isDone(await tenant.call('POST', `/api/executions/${random.pick(failed).id}/retry`, { version }))
}

/** With some seeds nothing fails by itself. */
async function failOnce(desk: Desk): Promise<void> {
  await addRule(desk, { ...writeDefinition(desk.random, 'LEAD_CREATED'), conditions: [], actions: [named] })
  await desk.tenant.call('POST', `${path}/${desk.rules.at(-1)?.id}/execute`, { data: {} })
}

async function replay({ tenant, pickEvent }: Desk): Promise<boolean> {
  const id = pickEvent()
  if (id === undefined) return false
  return isDone(await tenant.call('POST', `/api/events/${id}/replay`, undefined, async))
}

async function execute(desk: Desk): Promise<boolean> {
  const { tenant, random, rules } = desk
  const { id } = pickRule(desk, ({ isMoving }) => !isMoving)
  const [data] = writeEvents(random, rules, 1)
  return isDone(await tenant.call('POST', `${path}/${id}/execute`, { data }, async))
}

const async = { prefer: 'respond-async' }

function pickRule({ rules, random }: Desk, fits: (rule: KnownRule) => boolean = () => true): KnownRule {
  const edited = rules.slice(steadyRules)
  const fitting = edited.filter(fits)
  return random.pick(fitting.length === 0 ? edited : fitting)
}

function isDone({ status, body }: Answer): boolean {
  if (status >= 500) throw new Error(`A step got ${status} ${JSON.stringify(body)}`)
  return status < 300
}
