import fc from 'fast-check'
import t from 'tap'
import { listPaths } from '../src/explaining/trace-hints.js'
import { explainWhy } from '../src/explaining/why.js'
import { FieldSurvey } from '../src/values/field-survey.js'
import { compilePath, readPath } from '../src/values/path.js'
import { draws } from './fixtures/draws.js'

const actions = [{ type: 'CREATE_TASK' as const, config: { title: 'x' } }]

function survey(...events: unknown[]) {
  const survey = new FieldSurvey()
  for (const event of events) survey.add(event)
  return survey.list()
}

t.test('a survey lists what a clause can read', async (t) => {
  t.same(survey({ 'a.b': 1, 't[0]': 1 }), [])
  const fields = survey({ a: { b: 1 }, t: [{ x: 1 }] }, { 'a.b': 2, 't[0]': 2, a: { 'c.d': 2 } })
  t.same(
    fields.map(({ path, share }) => [path, share]),
    [
      ['a', 1],
      ['a.b', 0.5],
      ['t', 0.5],
      ['t[0]', 0.5],
      ['t[0].x', 0.5],
    ],
  )
})

t.test('no proposal names a key that no clause can read', async (t) => {
  const conditions = [{ field: 'lead.statu', operator: 'equals', value: 'new' }]
  const didYouMean = (data: object) => {
    const [clause] = explainWhy({ conditions, actions }, data, 0).trace.conditions
    return clause && 'didYouMean' in clause ? clause.didYouMean : undefined
  }
  t.equal(didYouMean({ 'lead.status': 'new' }), undefined)
  t.equal(didYouMean({ 'lead.status': 'new', lead: { status: 'new' } }), 'lead.status')
})

t.test('each path of a survey, and each that may be proposed, reads a value', async () => {
  const key = fc.oneof(
    fc.constantFrom('a', 'a.b', 'a[0]', '0', '[0]', '', 'a b', ' a', '__proto__'),
    fc.string(),
  )
  const { data } = fc.letrec<{ data: unknown }>((tie) => ({
    data: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(1, 'x', null),
      fc.array(tie('data'), { maxLength: 3 }),
      fc.dictionary(key, tie('data'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(data, (data) =>
      [...survey(data).map(({ path }) => path), ...listPaths(data)].every(
        (path) => readPath(compilePath(path), data) !== undefined,
      ),
    ),
    { numRuns: draws(2_000) },
  )
})
