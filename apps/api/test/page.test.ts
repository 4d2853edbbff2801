import t from 'tap'
import { readCursor } from '../src/lists/cursor.js'
import { cutList, cutPage, pageArguments } from '../src/lists/page.js'

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

t.test('a page of a short list begins after a place, also if its row is gone', (t) => {
  const names = ['b', 'a', 'f', 'c', 'e', 'd']
  const order = { list: 'letters', placeOf: (name: string) => name }
  for (const isNewestFirst of [false, true]) {
    const cut = (rows: string[], query: object) => cutList(rows, query, { ...order, isNewestFirst })
    const sorted = [...names].sort()
    if (isNewestFirst) sorted.reverse()
    t.strictSame(cut(names, {}), { data: sorted, nextCursor: null })
    const first = cut(names, { limit: 3 })
    t.strictSame(first.data, sorted.slice(0, 3))
    const cursor = first.nextCursor ?? ''
    t.strictSame(cut(names, { cursor, limit: 3 }), { data: sorted.slice(3), nextCursor: null })
    t.strictSame(cut(sorted.slice(3), { cursor, limit: 3 }).data, sorted.slice(3), 'the page before is gone')
    t.strictSame(cut(sorted.slice(0, 2), { cursor }), { data: [], nextCursor: null })
    let [rows, removed] = [names, [] as string[]]
    for (let next: string | null = ''; next !== null; ) {
      const page: { data: string[]; nextCursor: string | null } = cut(rows, {
        limit: 2,
        ...(next && { cursor: next }),
      })
      rows = rows.filter((name) => !page.data.includes(name))
      removed = [...removed, ...page.data]
      next = page.nextCursor
    }
    t.strictSame(removed, sorted, 'read a page, remove each, next page')
  }
  for (const foreign of [
    'x',
    Buffer.from('numbers:1').toString('base64url'),
    Buffer.from('a').toString('base64url'),
  ])
    t.throws(() => cutList(names, { cursor: foreign }, order), /[Cc]ursor/, foreign)
  t.end()
})
