import type { Scenario } from '../measurements.js'
import type { Clause, Rule } from '../workspace.js'

/** A kind of request, and the server that gets it. */
export interface EventScenario extends Scenario {
  /** The product, or a yardstick to compare it with (src/yardsticks). */
  server: 'product' | 'inline' | 'bare'
  /**
   * sync: each caller waits for the outcome. backlog: callers wait for the 202 while the worker is paused, and then it
   * runs the backlog. accept: the same, but the backlog is removed.
   */
  mode: 'sync' | 'backlog' | 'accept'
  rules: Rule[]
  /** Each of its live rules has a draft. */
  hasDrafts?: boolean
  /** Number of events in a request to the batch route. */
  batch?: number
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

/** All of them hold for `eventData`. */
const conditions: Clause[] = [
  { field: 'status', operator: 'equals', value: 'new' },
  { field: 'source', operator: 'in', value: ['web', 'referral'] },
  { field: 'email', operator: 'ends_with', value: '@example.com' },
  { field: 'company.employees', operator: 'between', value: [50, 500] },
  { field: 'score', operator: 'greater_than', value: 80 },
]

const createTask = { type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }
/** A rule needs an action. This one is always skipped, so only the cost of the rules is measured. */
const skippedTask = { ...createTask, when: { field: 'score', operator: 'less_than', value: 0 } }

const matching = makeRules(10, (name) => ({ name, trigger: eventType, conditions, actions: [skippedTask] }))

export const oneOfTenMatches = makeRules(10, (name, index) => ({
  name,
  trigger: eventType,
  // The last clause decides, so that every clause is evaluated.
  conditions: index === 0 ? conditions : [...conditions.slice(0, -1), scoreAbove(95 + index)],
  actions: [createTask],
}))

const usual = '10 rules, 1 matches, 1 task'

/** The same live rules, with a draft each, among shadows that would match. */
const besideShadows: Rule[] = [
  ...oneOfTenMatches,
  ...makeRules(90, (name) => ({
    name: `Shadow ${name}`,
    trigger: eventType,
    conditions,
    actions: [createTask],
    mode: 'shadow',
  })),
]

/** Scenarios that are compared are neighbours, so that both run under the same conditions. */
export const scenarios: EventScenario[] = [
  { name: '10 matching rules', connections: [128], server: 'product', mode: 'sync', rules: matching },
  { name: 'inline: 10 matching rules', connections: [128], server: 'inline', mode: 'sync', rules: matching },
  { name: usual, connections: [128], server: 'product', mode: 'sync', rules: oneOfTenMatches },
  {
    name: `${usual}, 100 drafts and shadows`,
    connections: [128],
    server: 'product',
    mode: 'sync',
    rules: besideShadows,
    hasDrafts: true,
  },
  { name: `inline: ${usual}`, connections: [128], server: 'inline', mode: 'sync', rules: oneOfTenMatches },
  {
    name: 'async in two phases',
    connections: [128],
    server: 'product',
    mode: 'backlog',
    rules: oneOfTenMatches,
  },
  { name: 'bare route', connections: [128], server: 'bare', mode: 'accept', rules: [] },
  {
    name: 'batches of 100, worker stopped',
    connections: [16],
    server: 'product',
    mode: 'accept',
    rules: oneOfTenMatches,
    batch: 100,
  },
  { name: '10 matching rules', connections: [1], server: 'product', mode: 'sync', rules: matching },
  { name: usual, connections: [1], server: 'product', mode: 'sync', rules: oneOfTenMatches },
  { name: `inline: ${usual}`, connections: [1], server: 'inline', mode: 'sync', rules: oneOfTenMatches },
]

function makeRules(count: number, make: (name: string, index: number) => Rule): Rule[] {
  return Array.from({ length: count }, (_, index) => make(`Rule ${index + 1}`, index))
}

function scoreAbove(value: number): Clause {
  return { field: 'score', operator: 'greater_than', value }
}
