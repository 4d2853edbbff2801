import t from 'tap'
import { findUnstorable, hasTooManyValues, maxNodes, TooLarge } from '../src/index.js'

t.test('a body may have 20,000 values, at any depth', async (t) => {
  const zeros = (count: number) => Array.from({ length: count }, () => 0)
  // With the list itself, or with a list around two of them.
  for (const fitting of [zeros(maxNodes - 1), [zeros(9_999), zeros(9_998)], { a: zeros(19_998) }]) {
    t.strictSame(findUnstorable(fitting), [])
    t.equal(hasTooManyValues(fitting), false)
  }
  for (const [large, field] of [
    [zeros(maxNodes), ''],
    [[zeros(9_999), zeros(9_999)], '[0]'],
    [{ a: zeros(19_999) }, 'a'],
  ] as const) {
    t.throws(() => findUnstorable(large), new TooLarge(field, 'Body has more than 20000 values'))
    t.equal(hasTooManyValues(large), true)
  }
})

t.test('of half a million values, none is read', async (t) => {
  const read = { get: () => t.fail('It was read') }
  const list = Object.defineProperty(new Array(500_000), 0, read)
  t.throws(
    () => findUnstorable({ data: { list } }),
    new TooLarge('data.list', 'Body has more than 20000 values'),
  )
  t.equal(hasTooManyValues({ data: { list } }), true)
  const object = Object.fromEntries(Array.from({ length: maxNodes }, (_, n) => [`key${n}`, n]))
  t.throws(
    () => findUnstorable({ data: Object.defineProperty(object, 'key0', read) }),
    new TooLarge('data', 'Body has more than 20000 values'),
  )
})

t.test('a number that JSON cannot write is a fault: it would be stored as null', async (t) => {
  const message = 'Is larger than the largest number'
  t.strictSame(findUnstorable(JSON.parse('{"a":1e400,"b":[-1e400],"c":1e308}')), [
    { field: 'b[0]', message },
    { field: 'a', message },
  ])
})
