import fc from 'fast-check'
import t from 'tap'
import { parseSearch } from '../../../pages/logic/history/parse-search.js'

t.test('comparisons are read as they are typed, and all of them have to hold', async (t) => {
  t.strictSame(
    parseSearch(
      'score > 80, country = DE, paid=true, id = "80", total <= -1.5, day >= 2026-11-01, ends < 2026-12-01, a != b',
    ),
    {
      conditions: [
        { field: 'score', operator: 'greater_than', value: 80 },
        { field: 'country', operator: 'equals', value: 'DE' },
        { field: 'paid', operator: 'equals', value: true },
        { field: 'id', operator: 'equals', value: '80' },
        { field: 'total', operator: 'less_than_or_equal', value: -1.5 },
        { field: 'day', operator: 'after', value: '2026-11-01' },
        { field: 'ends', operator: 'before', value: '2026-12-01' },
        { field: 'a', operator: 'not_equals', value: 'b' },
      ],
      q: '',
    },
  )
  t.strictSame(parseSearch('id = 8202522731445525542'), {
    conditions: [{ field: 'id', operator: 'equals', value: '8202522731445525542' }],
    q: '',
  })
  t.strictSame(parseSearch('name ~ "LOVELACE, ada"'), {
    conditions: [
      {
        field: 'name',
        operator: 'contains_any',
        value: ['LOVELACE, ada', 'lovelace, ada', 'LOVELACE, ADA', 'Lovelace, ada'],
      },
    ],
    q: '',
  })
})

t.test('words are those that any field has, beside comparisons', async (t) => {
  t.strictSame(parseSearch('grace hopper'), { conditions: [], q: 'grace hopper' })
  t.strictSame(parseSearch('ada, score > 80, "Lovelace, 80"'), {
    conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
    q: 'ada Lovelace, 80',
  })
})

t.test('what is missing is said', async (t) => {
  t.strictSame(parseSearch('score >'), { fault: 'Must have a value after score >' })
  t.strictSame(parseSearch('score > many'), { fault: 'Must have a number or a day after score >' })
  t.match(parseSearch(Array(51).fill('a = 1').join()), { fault: 'Must have at most 50 comparisons' })
  t.match(parseSearch('x'.repeat(201)), { fault: 'Must have at most 200 characters of words' })
  t.strictSame(parseSearch(' , '), { conditions: [], q: '' })
})

t.test('no text is too odd', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      const parsed = parseSearch(text)
      return 'fault' in parsed || parsed.conditions.length <= 50
    }),
  )
})
