import type { Condition } from '@automation/engine'
import type { Random } from './random.js'

type Make<Result> = (random: Random) => Result

const word = (random: Random) =>
  random.pick(['new', 'won', 'lost', 'DE', 'vip', 'gold', '10', 'Ada', '+49 30'])
const clause = (field: string, operator: string, value?: unknown): Condition =>
  value === undefined ? { field, operator } : { field, operator, value }

/** Conditions that cannot hold together. */
export const contradictions: Make<Condition[]>[] = [
  (random) => {
    const limit = random.below(100)
    return [
      clause('score', 'greater_than', limit + random.below(20)),
      clause('score', 'less_than', limit - random.below(3)),
    ]
  },
  (random) => [clause('score', 'gte', 50), clause('score', 'lte', 49.5 - random.below(9))],
  (random) => [clause('score', 'between', [1, 5]), clause('score', 'between', [6 + random.below(5), 20])],
  (random) => [clause('score', 'equals', `${random.below(9)}`), clause('score', 'greater_than', 20)],
  (random) => [clause('status', 'equals', word(random)), clause('status', 'equals', 'never')],
  () => [clause('status', 'in', ['new', 'won']), clause('status', 'not_in', ['won', 'new', 'lost'])],
  (random) => [clause('status', 'equals', word(random)), clause('status', 'is_empty')],
  () => [clause('status', 'exists'), clause('status', 'not_exists')],
  () => [clause('vip', 'is_true'), clause('vip', 'is_false')],
  (random) => [clause('vip', 'is_true'), clause('vip', 'contains', word(random))],
  (random) => [clause('name', 'starts_with', `a${word(random)}`), clause('name', 'starts_with', 'b')],
  (random) => [clause('name', 'starts_with', word(random)), clause('name', 'equals', '~')],
  (random) => {
    const text = word(random)
    return [clause('name', 'ends_with', text), clause('name', 'not_contains', text.slice(1))]
  },
  () => [
    clause('tags', 'contains_any', ['vip', 'gold']),
    clause('tags', 'not_contains', 'vip'),
    clause('tags', 'not_contains', 'gold'),
  ],
  () => [clause('tags', 'contains_all', ['vip', 'gold']), clause('tags', 'not_contains', 'gold')],
  (random) => {
    const pattern = random.pick(['^a+$', '[0-9]{3}', '(?i)acme'])
    return [clause('name', 'matches', pattern), clause('name', 'not_matches', pattern)]
  },
  () => [clause('at', 'before', '2026-01-01'), clause('at', 'after', '2026-02-01T10:00:00Z')],
  () => [clause('at', 'within_last', '1d'), clause('at', 'within_next', '30d'), clause('at', 'is_true')],
  () => [clause('lead', 'equals', 'Ada'), clause('lead.score', 'exists')],
  () => [clause('lead', 'not_exists'), clause('lead.score', 'greater_than', 3)],
  (random) => {
    const text = word(random)
    return [
      { not: { any: [clause('status', 'equals', text), clause('score', 'exists')] } },
      clause('status', 'in', [text, text]),
    ]
  },
  () => [
    { any: [clause('score', 'less_than', 3), clause('status', 'equals', 'a')] },
    clause('score', 'greater_than', 9),
    clause('status', 'in', ['b', 'c']),
  ],
  () => [
    {
      all: [
        { not: clause('score', 'not_between', [1, 9]) },
        { any: [clause('score', 'gt', 9), clause('score', 'lt', 1)] },
      ],
    },
  ],
]

/** Conditions that hold for any data. */
export const tautologies: Make<Condition>[] = [
  () => ({ any: [clause('status', 'exists'), clause('status', 'not_exists')] }),
  (random) => {
    const text = word(random)
    return { any: [clause('status', 'equals', text), clause('status', 'not_equals', text)] }
  },
  () => ({ not: { all: [clause('score', 'gt', 9), clause('score', 'lt', 3)] } }),
  () => ({ any: [clause('tags', 'is_empty'), clause('tags', 'is_not_empty'), clause('vip', 'is_true')] }),
  (random) => ({
    any: [clause('score', 'not_between', [1, 9]), clause('score', 'gte', 1 - random.below(3))],
  }),
  (random) => ({
    any: [
      clause('status', 'not_in', ['a', 'b']),
      clause('status', 'starts_with', 'a'),
      clause('status', 'contains', 'b'),
      clause('vip', 'equals', word(random)),
    ],
  }),
]

/** Two conditions, of which the second one follows from the first one. */
export const redundancies: Make<[Condition, Condition]>[] = [
  (random) => [clause('score', 'greater_than', 80), clause('score', 'greater_than', random.below(80))],
  () => [clause('score', 'between', [5, 9]), clause('score', 'lte', 9)],
  (random) => [clause('status', 'equals', word(random)), clause('status', 'exists')],
  (random) => [clause('status', 'equals', word(random)), clause('status', 'not_equals', 'never')],
  (random) => {
    const text = word(random)
    return [clause('status', 'equals', text), clause('status', 'in', [text, 'x'])]
  },
  (random) => {
    const text = word(random)
    return [clause('name', 'starts_with', `${text}!`), clause('name', 'starts_with', text)]
  },
  (random) => {
    const text = word(random)
    return [clause('name', 'ends_with', `!${text}`), clause('name', 'contains', text)]
  },
  (random) => [clause('tags', 'contains', word(random)), clause('tags', 'is_not_empty')],
  () => [clause('tags', 'contains_all', ['vip', 'gold']), clause('tags', 'contains_any', ['gold', 'silver'])],
  () => [clause('at', 'after', '2026-02-01'), clause('at', 'after', '2026-01-01T00:00:00Z')],
  () => [clause('at', 'within_last', '1d'), clause('at', 'within_last', '2d')],
  () => [clause('lead.score', 'gt', 3), clause('lead', 'exists')],
  () => [clause('score', 'gt', 3), { any: [clause('score', 'gt', 1), clause('vip', 'is_true')] }],
  () => [clause('name', 'matches', '^a'), clause('name', 'exists')],
  () => [clause('score', 'greater_than', 3), { not: clause('score', 'is_empty') }],
]
