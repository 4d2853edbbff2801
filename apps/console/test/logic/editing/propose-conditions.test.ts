import { FieldSurvey } from '@automation/engine'
import t from 'tap'
import { proposeConditions } from '../../../pages/logic/editing/propose-conditions.js'

const survey = (events: object[]) => {
  const survey = new FieldSurvey()
  for (const data of events) survey.add(data)
  return { events: events.length, fields: survey.list() } as never
}

t.test('an event proposes what tells it from the others, at most three conditions', async (t) => {
  const events = Array.from({ length: 40 }, (_, index) => ({
    id: `lead-${index}`,
    name: `Name${index}`,
    kind: 'lead',
    country: index % 10 === 0 ? 'AT' : 'DE',
    status: index % 2 ? 'new' : 'open',
    vip: index === 0,
    score: index,
    note: `Some words ${index}`,
  }))
  const found = proposeConditions({ ...events[0], score: 39 }, survey(events))
  t.strictSame(found, [
    { field: 'score', operator: 'greater_than_or_equal', value: 39 },
    { field: 'vip', operator: 'is_true' },
    { field: 'country', operator: 'equals', value: 'AT' },
  ])
})

t.test('a first event proposes its words, and neither its id nor a sentence', async (t) => {
  const data = {
    id: 'a7',
    ownerId: 'x',
    status: 'new',
    text: 'Two words',
    score: 5,
    nested: { country: 'DE' },
  }
  t.strictSame(proposeConditions(data, survey([data])), [
    { field: 'nested.country', operator: 'equals', value: 'DE' },
    { field: 'status', operator: 'equals', value: 'new' },
  ])
  t.strictSame(proposeConditions({}, survey([{}])), [])
})
