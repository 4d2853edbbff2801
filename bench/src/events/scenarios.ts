import type { Scenario } from '../measurements.js'
import type { Clause, Rule } from '../workspace.js'

/** What one workspace is given and asked. */
export interface EventScenario extends Scenario {
  /** `Prefer: respond-async`: answered when the event is accepted, and counted when it is done. */
  isAsync: boolean
  rules: Rule[]
}

export const eventType = 'LEAD_CREATED'

export const eventData = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  score: 95,
  status: 'new',
  source: 'web',
  company: { name: 'Analytical Engines', employees: 120 },
}

/** All of them are true of `eventData`. */
const conditions: Clause[] = [
  { field: 'status', operator: 'equals', value: 'new' },
  { field: 'source', operator: 'in', value: ['web', 'referral'] },
  { field: 'email', operator: 'ends_with', value: '@example.com' },
  { field: 'company.employees', operator: 'between', value: [50, 500] },
  { field: 'score', operator: 'greater_than', value: 80 },
]

const createTask = { type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }
/** A rule needs an action, and every action does something: this one is always skipped, so what is left is the rules' own cost. */
const skippedTask = { ...createTask, when: { field: 'score', operator: 'less_than', value: 0 } }

const matching = makeRules(10, (name) => ({ name, trigger: eventType, conditions, actions: [skippedTask] }))

const oneOfTenMatches = makeRules(10, (name, index) => ({
  name,
  trigger: eventType,
  // The last clause decides, so that no rule is left early.
  conditions: index === 0 ? conditions : [...conditions.slice(0, -1), scoreAbove(95 + index)],
  actions: [createTask],
}))

const otherTypes = ['LEAD_UPDATED', 'CONTACT_CREATED', 'DEAL_WON', 'TASK_OVERDUE', 'FORM_SUBMITTED']
const ofOtherTypes = makeRules(990, (name, index) => ({
  name: `Other ${name}`,
  trigger: otherTypes[index % otherTypes.length] as string,
  conditions,
  actions: [createTask],
}))

export const scenarios: EventScenario[] = [
  { name: '10 matching rules', connections: [1, 32, 128], isAsync: false, rules: matching },
  { name: '10 rules, 1 matches, 1 task', connections: [1, 128], isAsync: false, rules: oneOfTenMatches },
  {
    name: '10 matching of 1,000 rules',
    connections: [128],
    isAsync: false,
    rules: [...matching, ...ofOtherTypes],
  },
  { name: '10 matching rules, async', connections: [1, 32, 128], isAsync: true, rules: matching },
]

function makeRules(count: number, make: (name: string, index: number) => Rule): Rule[] {
  return Array.from({ length: count }, (_, index) => make(`Rule ${index + 1}`, index))
}

function scoreAbove(value: number): Clause {
  return { field: 'score', operator: 'greater_than', value }
}
