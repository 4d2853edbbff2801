import fc from 'fast-check'
import t from 'tap'
import { findRepeatedNames } from '../src/index.js'

const cases: [json: string, found: string[]][] = [
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":2}', ['a']],
  ['{"a":1,"\\u0061":2}', ['a']],
  ['{"a":{"a":1},"b":{"a":1}}', []],
  ['[{"a":1},{"a":2}]', []],
  ['{"rules":[{"x":"a,b"},{"actions":[],"name":"y","actions":[{}]}]}', ['rules[1].actions']],
  ['[[{"a":[{"b":1,"b":1}]}]]', ['[0][0].a[0].b']],
  ['{"a":"\\"a\\":1,","b":"\\\\","a":3}', ['a']],
  ['{"a":1,"a":2,"a":3,"b":{"c":1,"c":1}}', ['a', 'b.c']],
  ['{"":1,"":2}', ['']],
  ['{"__proto__":1,"constructor":1,"__proto__":1}', ['__proto__']],
  [' { "a" : [ 1 , 2 ] , "b" : "a" , "b" : 1 } ', ['b']],
  ['"a"', []],
]

for (const [json, found] of cases) t.test(json, async (t) => t.strictSame(findRepeatedNames(json), found))

t.test('JSON that a program writes repeats no name', async () => {
  fc.assert(
    fc.property(fc.json(), (json) => findRepeatedNames(JSON.stringify(JSON.parse(json))).length === 0),
  )
})

t.test('any depth is read, and at most 20 names are found', async (t) => {
  const depth = 100_000
  t.strictSame(findRepeatedNames('['.repeat(depth) + ']'.repeat(depth)), [])
  const many = Array.from({ length: 100 }, (_, n) => `"n${n}":1`).join()
  t.equal(findRepeatedNames(`{${many},${many}}`).length, 20)
})

t.test(
  'one name that is there 20,000 times below a long one is found at once, and its path is cut',
  async (t) => {
    const json = `{"${'a'.repeat(200_000)}":{${'"b":1,'.repeat(20_000)}"b":1}}`
    const startedAt = process.cpuUsage()
    const found = findRepeatedNames(json)
    t.ok(process.cpuUsage(startedAt).user < 500_000)
    t.equal(found.length, 1)
    t.ok((found[0]?.length ?? 0) <= 500)
  },
)
