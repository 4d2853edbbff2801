import fc from 'fast-check'
import t from 'tap'
import { boundWork, chargingOperators, compileRule, Evaluation, ruleHolds } from '../src/index.js'
import { operators } from '../src/operators/index.js'

const limits = { rule: 1e12, event: 1e12 }

t.test('conditions never cost more than their bound, and without charging operators nothing', async (t) => {
  const anyText = fc.string({ maxLength: 300 })
  const anyData = fc.record({ a: fc.oneof(anyText, fc.array(anyText, { maxLength: 100 }), fc.integer()) })
  for (const { name, value: schema, example } of operators) {
    const clause = { field: 'a', operator: name, ...(schema && { value: example.value }) }
    const conditions = [{ any: [{ not: clause }, clause] }] as never
    const rule = compileRule({ conditions, actions: [] })
    const { base, perCharacter } = boundWork(conditions)
    t.equal(perCharacter > 0, chargingOperators.includes(name), name)
    fc.assert(
      fc.property(anyData, (data) => {
        const evaluation = new Evaluation(0, limits)
        ruleHolds(rule, data, evaluation)
        return evaluation.spent <= base + perCharacter * JSON.stringify(data).length
      }),
      { numRuns: 200 },
    )
  }
})
