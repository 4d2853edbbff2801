import t from 'tap'
import { chooseTelling, listTold } from '../../../pages/logic/history/choose-telling.js'

const row = (eventType: string, excerpt: Record<string, string | number | boolean>) => ({
  eventType,
  excerpt,
})

t.test('names come first, then what differs, and never ids or what all have in common', async (t) => {
  const rows = [
    row('LEAD', { id: 'a1', source: 'web', score: 95, name: 'Ada', leadId: 'x1' }),
    row('LEAD', { id: 'a2', source: 'web', score: 12, name: 'Bo', leadId: 'x2' }),
    row('LEAD', { id: 'a3', source: 'web', score: 50, name: 'Cy', leadId: 'x3' }),
    row('DEAL', { amount: 100 }),
  ]
  t.strictSame(chooseTelling(rows).get('LEAD'), ['name', 'score', 'source'])
  t.strictSame(chooseTelling(rows).get('DEAL'), ['amount'])
  t.strictSame(chooseTelling([{ eventType: 'X' }]).get('X'), [])
})

t.test('of fields that tell the same the names decide, and not the order in which they come', async (t) => {
  const forth = chooseTelling([row('LEAD', { d: 1, c: 2, b: 3, a: 4 })])
  t.strictSame(forth, chooseTelling([row('LEAD', { a: 4, b: 3, c: 2, d: 1 })]))
})

t.test('the name of a field that names something is not said', async (t) => {
  t.strictSame(
    listTold({ 'lead.name': 'Ada', 'lead.score': 95, paid: false }, [
      'lead.name',
      'lead.score',
      'gone',
      'paid',
    ]),
    [
      { label: '', value: 'Ada' },
      { label: 'score', value: '95' },
      { label: 'paid', value: 'false' },
    ],
  )
})
