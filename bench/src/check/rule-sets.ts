import type { CheckedRule } from '@automation/check'
import { cleanRule, Random } from '@automation/check/corpus'
import type { Condition } from '@automation/engine'

/** Rule sets of one trigger. Where all rules have one effect, every pair of them is compared. */
export const ruleSets: { name: string; rules(count: number): CheckedRule[] }[] = [
  { name: 'an effect each', rules: (count) => list(count, (n) => cleanRule(new Random(n), n)) },
  {
    name: 'one effect, a value each',
    rules: (count) =>
      list(count, (n) =>
        withTask(n, [clause('code', 'equals', `c${n}`), clause('score', 'greater_than', n)]),
      ),
  },
  {
    name: 'one effect, a range each',
    rules: (count) => list(count, (n) => withTask(n, [clause('score', 'between', [n * 10, n * 10 + 9])])),
  },
  {
    name: 'one effect, 5 clauses',
    rules: (count) =>
      list(count, (n) =>
        withTask(n, [
          clause('score', 'greater_than', n),
          clause('owner', 'not_equals', `o${n}`),
          clause('name', 'contains', `w${n % 9}`),
          clause('email', 'exists'),
          clause('code', 'in', [`p${n}`, `q${n}`]),
        ]),
      ),
  },
  {
    name: 'one effect, groups',
    rules: (count) =>
      list(count, (n) =>
        withTask(n, [
          { any: [clause('owner', 'equals', `o${n}`), clause('name', 'equals', `w${n}`)] },
          clause('code', 'equals', `c${n}`),
        ]),
      ),
  },
  {
    name: 'one effect, overlapping',
    rules: (count) =>
      list(count, (n) => ({ ...cleanRule(new Random(n), n), actions: withTask(n, []).actions })),
  },
]

function list(count: number, make: (n: number) => CheckedRule): CheckedRule[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

function withTask(n: number, conditions: Condition[]): CheckedRule {
  return {
    name: `Rule ${n}`,
    trigger: 'LEAD_CREATED',
    conditions,
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
  }
}

function clause(field: string, operator: string, value?: unknown): Condition {
  return value === undefined ? { field, operator } : { field, operator, value }
}
