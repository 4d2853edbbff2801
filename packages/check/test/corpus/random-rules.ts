import type { CheckedRule, Condition } from '@automation/engine'
import type { Random } from './random.js'

// Few paths and few constants, so that random rules have to do with one another.
export const paths = ['score', 'status', 'tags', 'at', 'lead', 'lead.score', 'lead.name', 'tags[0]']
const numbers = [-1, 0, 10, 10.5, 80, 81, 1e8, 1_767_225_600, 1e11, 1_767_225_600_000]
const texts = [
  'a',
  'ab',
  'b',
  'ba',
  '10',
  '10.0',
  '80',
  'x',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  'Thu, 01 Jan 2026 00:00:00 +0000',
  '1767225600',
  '',
  'true',
]
const parts = ['a', 'ab', 'b', '1', '0', '2026', 'x']
const patterns = ['^a', 'b$', '[0-9]+', 'a|b', '^2026', '(?i)A']
const times = ['2026-01-01', '2026-06-01T00:00:00Z', '2027-01-01', '2025-01-01']
const spans = ['1d', '30d', '52w']
export const triggers = ['LEAD_CREATED', 'LEAD_UPDATED'] as const

export function randomRules(random: Random): CheckedRule[] {
  return Array.from({ length: 1 + random.below(3) }, (_, index) => randomRule(random, index))
}

function randomRule(random: Random, index: number): CheckedRule {
  const rule = {
    name: `Rule ${index}`,
    trigger: random.chance(0.8) ? triggers[0] : triggers[1],
    conditions: Array.from({ length: random.below(4) }, () => randomCondition(random, 2)),
    actions: Array.from({ length: 1 + random.below(2) }, () => randomAction(random)),
    ...(random.chance(0.1) && { group: 'group', order: random.below(3) }),
    isActive: random.chance(0.95),
  }
  return rule as CheckedRule
}

function randomAction(random: Random) {
  const action = random.pick([
    { type: 'CREATE_TASK', config: { title: 'Call {{lead.name}}' } },
    { type: 'SEND_EMAIL', config: { to: '{{status}}', subject: 'Hello', template: 'hello' } },
    { type: 'SEND_NOTIFICATION', config: { url: 'https://chat.example.com/1', text: 'New' } },
    { type: 'WAIT', config: { duration: '1d' } },
    { type: 'EMIT_EVENT', config: { eventType: random.pick(triggers) } },
    {
      type: 'EMIT_EVENT',
      config: {
        eventType: random.pick(triggers),
        data: {
          score: random.pick(['{{score}}', 10, '{{lead.score}}', '1{{score}}', '{{score | default:10}}']),
          status: random.pick(['a', '{{status}}', '{{at}}']),
          lead: random.pick(['{{lead}}', { score: '{{score}}' }]),
        },
      },
    },
  ])
  return random.chance(0.25) ? { ...action, when: randomCondition(random, 1) } : action
}

export function randomCondition(random: Random, depth: number): Condition {
  if (depth > 0 && random.chance(0.3)) {
    const children = () =>
      Array.from({ length: 1 + random.below(3) }, () => randomCondition(random, depth - 1))
    return random.pick<() => Condition>([
      () => ({ all: children() }),
      () => ({ any: children() }),
      () => ({ not: randomCondition(random, depth - 1) }),
    ])()
  }
  return randomClause(random, random.pick(paths))
}

export function randomClause(random: Random, field: string): Condition {
  const scalar = () =>
    random.pick<string | number | boolean | null>([...numbers, ...texts, ...texts, true, null])
  const clause = random.pick<() => [string, unknown?]>([
    () => [random.pick(['equals', 'not_equals']), scalar()],
    () => [
      random.pick(['greater_than', 'greater_than_or_equal', 'less_than', 'less_than_or_equal']),
      random.pick(numbers),
    ],
    () => [
      random.pick(['between', 'not_between']),
      [random.pick(numbers), random.pick(numbers)].sort((one, other) => one - other),
    ],
    () => [random.pick(['in', 'not_in']), random.some([...numbers, ...texts, true, null])],
    () => [
      random.pick(['contains', 'not_contains']),
      random.pick<unknown>([...parts, 10, '10', '10.0', true]),
    ],
    () => [random.pick(['contains_any', 'contains_all']), random.some<unknown>([...parts, 10, '10', null])],
    () => [random.pick(['starts_with', 'ends_with']), random.pick(parts)],
    () => [random.pick(['matches', 'not_matches']), random.pick(patterns)],
    () => [random.pick(['exists', 'not_exists', 'is_empty', 'is_not_empty', 'is_true', 'is_false'])],
    () => [random.pick(['before', 'after']), random.pick(times)],
    () => [random.pick(['within_last', 'within_next']), random.pick(spans)],
  ])
  const [operator, value] = clause()
  return value === undefined ? { field, operator } : { field, operator, value }
}
