import type { CheckedRule } from '@automation/check'
import { Domain, type Random, randomRules } from '@automation/check/corpus'

/** What is posted from outside; TAG_ADDED is emitted by rules. */
export const postedTypes = ['LEAD_CREATED', 'LEAD_UPDATED', 'DEAL_WON'] as const
const types = [...postedTypes, 'TAG_ADDED'] as const

/** A rule as it is posted: any conditions of the engine. */
export interface Definition {
  name: string
  trigger: string
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
const actions: object[][] = [...Array.from({ length: 6 }, () => [skipped]), [named], [named], [task], [emit]]

export function writeDefinition(random: Random, trigger: string = random.pick(types)): Definition {
  const [rule] = randomRules(random)
  return {
    name: 'Rule',
    trigger,
    conditions: rule?.conditions ?? [],
    // What is emitted emits nothing.
    actions: trigger === 'TAG_ADDED' ? [skipped] : random.pick(actions),
  }
}

/** Data of events that the clauses of these rules have to do with, at and around their constants and the present. */
export function writeEvents(random: Random, rules: KnownRule[], count: number): object[] {
  const near = random.some(rules).map(({ definition }) => definition as unknown as CheckedRule)
  const domain = new Domain(near, Date.now())
  return Array.from({ length: count }, () => domain.event(random))
}
