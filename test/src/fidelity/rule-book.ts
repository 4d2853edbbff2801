import { Domain, type Random, randomClause, randomRules } from '@automation/check/corpus'
import type { CheckedRule } from '@automation/engine'

/** What is posted from outside; TAG_ADDED is emitted by rules. */
export const postedTypes = ['LEAD_CREATED', 'LEAD_UPDATED', 'DEAL_WON'] as const
const types = [...postedTypes, 'TAG_ADDED'] as const

/** A rule as it is posted: any conditions of the engine. */
export interface Definition {
  name: string
  trigger: string
  /** Of the active rules of a group, the first that matches runs. */
  group?: string
  order?: number
  conditions: CheckedRule['conditions']
  actions: object[]
}

/** A rule as far as its editor knows it. */
export interface KnownRule {
  id: string
  definition: Definition
  /** Its trigger changes, and nobody executes it by hand. */
  isMoving: boolean
}

const task = { type: 'CREATE_TASK', config: { title: 'Call' } }
/** Its execution is recorded, and costs little. */
const skipped = { ...task, when: { field: 'never', operator: 'exists' } }
/** Fails where the event has no name, so that there is something to retry. */
export const named = { type: 'CREATE_TASK', config: { title: '{{lead.name}}' } }
const emit = {
  type: 'EMIT_EVENT',
  config: { eventType: 'TAG_ADDED', data: { score: '{{score}}', status: '{{status}}' } },
  when: { field: 'score', operator: 'greater_than', value: 80 },
}
const emitEach = {
  type: 'EMIT_EVENT',
  config: {
    eventType: 'TAG_ADDED',
    forEach: 'items',
    where: [{ field: 'score', operator: 'greater_than', value: 10 }],
    data: { score: '{{item.score}}', status: '{{status}}' },
  },
}
const actions: object[][] = [
  ...Array.from({ length: 6 }, () => [skipped]),
  ...[[named], [named], [task], [emit], [emitEach]],
]

export function writeDefinition(random: Random, trigger: string = random.pick(types)): Definition {
  const [rule] = randomRules(random)
  return {
    name: 'Rule',
    trigger,
    ...(random.chance(0.3) && { group: 'routing', order: random.below(3) }),
    conditions: [...(rule?.conditions ?? []), ...(random.chance(0.4) ? [writeCondition(random)] : [])],
    // What is emitted emits nothing.
    actions: trigger === 'TAG_ADDED' ? [skipped] : random.pick(actions),
  }
}

/** About the items of a list, or about two fields. */
function writeCondition(random: Random) {
  const that = Array.from({ length: 1 + random.below(2) }, () =>
    randomClause(random, random.pick(['score', 'status', '.'])),
  )
  const operator = random.pick(['greater_than', 'less_than', 'equals', 'not_equals'])
  const twoFields = random.pick([operator, 'before', 'after', 'contains', 'not_contains', 'in', 'not_in'])
  return random.pick<object>([
    { some: 'items', that },
    { every: 'items', that },
    { none: 'items', that },
    { count: 'items', ...(random.chance(0.7) && { that }), operator, value: random.below(4) },
    { field: random.pick(['score', 'status', 'at']), operator: twoFields, value: { field: 'limit' } },
  ]) as CheckedRule['conditions'][number]
}

const limits = [10, 80, 81, 'a', '80', '2026-01-01', ['a', 80], null]

/** Data of events that the clauses of these rules have to do with, at and around their constants and the present. */
export function writeEvents(random: Random, rules: KnownRule[], count: number): object[] {
  const near = random.some(rules).map(({ definition }) => definition as unknown as CheckedRule)
  const domain = new Domain(near, Date.now())
  return Array.from({ length: count }, () => ({
    ...domain.event(random),
    ...(random.chance(0.8) && { items: writeItems(random, domain) }),
    ...(random.chance(0.8) && { limit: random.pick(limits) }),
  }))
}

function writeItems(random: Random, domain: Domain): unknown[] {
  return Array.from({ length: random.below(4) }, () =>
    random.chance(0.2) ? random.pick(limits) : domain.event(random),
  )
}
