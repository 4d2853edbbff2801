import { compileRule, explainRule } from '@automation/engine'
import t from 'tap'
import { evaluateDefinition, type Sample } from '../../pages/logic/evaluate-definition.js'

const conditions = [
  { field: 'score', operator: 'greater_than', value: 80 },
  { field: 'status', operator: 'equals', value: 'new' },
] as never
const actions = [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }] as never
const definition = { name: 'n', description: '', trigger: 'LEAD_CREATED', conditions, actions }
const samples: Sample[] = [95, 81, 10].map((score, index) => ({
  id: `${index}`,
  acceptedAt: null,
  data: { score, name: 'Ada', status: index === 1 ? 'old' : 'new' },
}))

t.test('the preview has the verdicts and reasons of the engine', async (t) => {
  const { verdicts, passedBy, faults, problem } = evaluateDefinition(definition, samples, 0)
  t.same(
    verdicts.map(({ matches }) => matches),
    [true, false, false],
  )
  t.same(passedBy, [2, 2])
  t.same([faults, problem], [[], undefined])
  const rule = compileRule({ conditions, actions })
  t.same(
    verdicts.map(({ conditions }) => conditions),
    samples.map(({ data }) => explainRule(rule, data, 0).conditions),
  )
})

t.test(
  'an unfinished condition is no error of the page, and unfinished actions do not hide the verdicts',
  async (t) => {
    const unfinished = { ...definition, conditions: [{ field: '', operator: 'no such', value: 1 }] as never }
    const { verdicts, faults } = evaluateDefinition(unfinished, samples, 0)
    t.strictSame(verdicts, [])
    t.strictSame(
      faults.map(({ field }) => field),
      ['conditions[0].field', 'conditions[0].operator'],
    )
    const halfDone = { ...definition, actions: [{ type: 'NOTHING', config: {} }] as never }
    t.equal(evaluateDefinition(halfDone, samples, 0).verdicts.length, 3)
  },
)
