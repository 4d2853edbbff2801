import t from 'tap'
import { findJsonFault } from '../src/find-json-fault.js'

t.test('the place of a fault is where the text stops being JSON', async (t) => {
  const cases: [text: string, line: number, column: number, expected: string][] = [
    ['', 1, 1, 'a value'],
    ['{', 1, 2, 'a name in double quotes or }'],
    ['{"a":1,}', 1, 8, 'a name in double quotes'],
    ['{"a" 1}', 1, 6, 'a colon'],
    ['{"a":1 "b":2}', 1, 8, 'a comma or }'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma or }'],
    ['[1 2]', 1, 4, 'a comma or ]'],
    ['[1,]', 1, 4, 'a value'],
    ["{'a': 1}", 1, 2, 'a name in double quotes or }'],
    ['{"a": undefined}', 1, 7, 'a value'],
    ['{"a": 01}', 1, 8, 'a comma or }'],
    ['{"a": "x', 1, 9, 'the closing quote of a string'],
    ['{"a": "\\x"}', 1, 8, 'an escape such as \\n'],
    ['{"a": "x\ny"}', 1, 9, 'an escape such as \\n, and no control character'],
    ['{} {}', 1, 4, 'the end of the text'],
  ]
  for (const [text, line, column, expected] of cases)
    t.strictSame(findJsonFault(text), { line, column, expected }, text)
})

t.test('it finds a fault exactly where JSON.parse throws', async (t) => {
  const seeds = ['{"a":[1,-2.5e3,true,null,{"b":"x\\u0041\\n"}],"c":""}', '[[],{}]', '"x"', ' 12 ']
  const letters = '{}[]",:\\ 1.e-tn\n'
  for (const seed of seeds)
    for (let at = 0; at <= seed.length; at++)
      for (const letter of ['', ...letters]) {
        const text = seed.slice(0, at) + letter + seed.slice(at + 1)
        let isJson = true
        try {
          JSON.parse(text)
        } catch {
          isJson = false
        }
        if ((findJsonFault(text) === undefined) !== isJson) t.fail(text)
      }
})

t.test('a large and a deep text cost little', async (t) => {
  const startedAt = process.cpuUsage()
  findJsonFault(`"${'x'.repeat(1_000_000)}`)
  findJsonFault('['.repeat(1_000_000))
  t.ok(process.cpuUsage(startedAt).user < 2_000_000)
})
