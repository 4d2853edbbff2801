import fc from 'fast-check'
import t from 'tap'
import { isFlat, renameEntry } from '../../../pages/logic/editing/flat-object.js'
import { readScalar, writeScalar } from '../../../pages/logic/value-kind.js'

t.test('an object of short values is shown in lines, and anything else as JSON', async (t) => {
  for (const flat of [{}, { a: 'x', b: 1, c: null, d: false }, { '': '' }])
    t.ok(isFlat(flat), JSON.stringify(flat))
  for (const other of [{ a: {} }, { a: [] }, { a: 'x\ny' }, { 'a\n': 1 }, [], '{{data}}', null, undefined])
    t.notOk(isFlat(other), JSON.stringify(other))
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`a${index}`, index]))
  t.notOk(isFlat(many), 'fifty lines are enough')
})

t.test('a value that is typed anew as it is shown is the same', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
      (value) => {
        const json = JSON.parse(JSON.stringify(value))
        return Object.is(readScalar(writeScalar(json)), json)
      },
    ),
  )
  t.equal(readScalar(writeScalar('80')), '80')
})

t.test('an entry has another name, in its place', async (t) => {
  t.strictSame(Object.entries(renameEntry({ a: 1, b: 2, c: 3 }, 'b', 'x')), [
    ['a', 1],
    ['x', 2],
    ['c', 3],
  ])
  t.strictSame(Object.keys(renameEntry({ a: 1 }, 'a', '__proto__')), ['__proto__'])
})
