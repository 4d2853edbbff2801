import type { Clause, Rule } from './workspace.js'

export const eventType = 'LEAD_CREATED'
export const triggerPath = `/api/automation-rules/trigger/${eventType}`

export const eventData = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  score: 95,
  status: 'new',
  source: 'web',
  company: { name: 'Analytical Engines', employees: 120 },
}

/** All of them hold for `eventData`. */
export const conditions: Clause[] = [
  { field: 'status', operator: 'equals', value: 'new' },
  { field: 'source', operator: 'in', value: ['web', 'referral'] },
  { field: 'email', operator: 'ends_with', value: '@example.com' },
  { field: 'company.employees', operator: 'between', value: [50, 500] },
  { field: 'score', operator: 'greater_than', value: 80 },
]

export const createTask = { type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }

/** One of ten rules matches and creates a task. The last clause decides, so that every clause is evaluated. */
export const oneOfTenMatches = makeRules(10, (name, index) => ({
  name,
  trigger: eventType,
  conditions:
    index === 0
      ? conditions
      : [...conditions.slice(0, -1), { field: 'score', operator: 'greater_than', value: 95 + index }],
  actions: [createTask],
}))

export function makeRules(count: number, make: (name: string, index: number) => Rule): Rule[] {
  return Array.from({ length: count }, (_, index) => make(`Rule ${index + 1}`, index))
}
