import fc from 'fast-check'
import t from 'tap'
import { hasWord, parseSearch } from '../../../pages/logic/history/parse-search.js'

t.test('comparisons are read as they are typed, and all of them have to hold', async (t) => {
  t.strictSame(
    parseSearch(
      'score > 80, country = DE, paid=true, id = "80", total <= -1.5, day >= 2026-11-01, ends < 2026-12-01, a != b',
      [],
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
    },
  )
  t.strictSame(parseSearch('id = 8202522731445525542', []), {
    conditions: [{ field: 'id', operator: 'equals', value: '8202522731445525542' }],
  })
  t.strictSame(parseSearch('name ~ "LOVELACE, ada"', []), {
    conditions: [
      {
        field: 'name',
        operator: 'contains_any',
        value: ['LOVELACE, ada', 'lovelace, ada', 'LOVELACE, ADA', 'Lovelace, ada'],
      },
    ],
  })
})

t.test('a word is looked for in every field that is known', async (t) => {
  t.strictSame(parseSearch('ada', ['name', 'lead.email']), {
    conditions: [
      {
        any: [
          { field: 'name', operator: 'contains_any', value: ['ada', 'ADA', 'Ada'] },
          { field: 'lead.email', operator: 'contains_any', value: ['ada', 'ADA', 'Ada'] },
        ],
      },
    ],
  })
  t.match(parseSearch('80', ['score']), {
    conditions: [{ any: [{ operator: 'contains_any' }, { operator: 'equals', value: 80 }] }],
  })
  t.ok(hasWord('score > 80, ada'))
  t.notOk(hasWord('score > 80'))
  t.match(parseSearch('ada', []), { fault: /^Must name a field/ })
})

t.test('what is missing is said', async (t) => {
  t.strictSame(parseSearch('score >', []), { fault: 'Must have a value after score >' })
  t.strictSame(parseSearch('score > many', []), { fault: 'Must have a number or a day after score >' })
  t.strictSame(parseSearch(' , ', []), { conditions: [] })
})

t.test('no text is too odd, and no search has more than 50 clauses', async () => {
  const fields = Array.from({ length: 99 }, (_, index) => `f${index}`)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      const parsed = parseSearch(text, fields)
      const clauses =
        'fault' in parsed ? [] : parsed.conditions.flatMap((one) => ('any' in one ? one.any : [one]))
      return clauses.length <= 50
    }),
  )
})
