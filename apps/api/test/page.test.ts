import t from 'tap'
import { readCursor } from '../src/lists/cursor.js'
import { cutPage, pageArguments } from '../src/lists/page.js'

const rows = ['3', '2', '1'].map((digit) => ({ id: `00000000-0000-7000-8000-00000000000${digit}` }))

t.test('a page that has all rows has no cursor, also if it is full', (t) => {
  t.strictSame(cutPage(rows, 3), { page: rows, nextCursor: null })
  t.strictSame(cutPage(rows, 4), { page: rows, nextCursor: null })
  t.strictSame(cutPage([], 1), { page: [], nextCursor: null })
  t.end()
})

t.test('a page of more rows ends with the row that its cursor names', (t) => {
  const { page, nextCursor } = cutPage(rows, 2)
  t.strictSame(page, rows.slice(0, 2))
  t.equal(readCursor(nextCursor ?? ''), rows[1]?.id)
  t.match(pageArguments({ cursor: nextCursor ?? '' }, 2), { where: { id: { lt: rows[1]?.id } }, take: 3 })
  t.end()
})
