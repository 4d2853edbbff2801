import t from 'tap'
import { queryOfView, readViews } from '../../../pages/logic/history/views.js'

t.test('a view keeps the filters, in one order, and nothing of the moment', async (t) => {
  t.equal(
    queryOfView({ status: 'failed', last: '7d', id: 'x', from: 'y', to: 'z', q: '' }),
    'last=7d&status=failed',
  )
  t.equal(queryOfView({}), '')
})

t.test('what is kept may have been written by others', async (t) => {
  for (const text of [null, '', '{', '{}', '"x"', 'null', '[null, 1, {"name": 2, "query": ""}]'])
    t.strictSame(readViews(text), [], `${text}`)
  t.strictSame(readViews('[{"name":"Mine","query":"last=7d"}]'), [{ name: 'Mine', query: 'last=7d' }])
})
