import fc from 'fast-check'
import t from 'tap'
import { isLongNumber, mayHaveLongNumber, readJson } from '../src/index.js'
import { draws } from './fixtures/draws.js'

t.test('a number whose digits a double cannot keep becomes a text with the same digits', async (t) => {
  const long = [
    '8202522731445525542',
    '-8202522731445525542',
    '9007199254740993',
    '12345678901234567.89',
    '1234567890.1234567890',
    '0.12345678901234567',
    '-0.1000000000000000055511151231257827',
    '100000000000000000000000',
    '1000000000000000000000.0',
    '1.2345678901234567891e30',
    '12345678901234567891E-5',
    '1234567890123456789e+2',
    '1.5e-324',
    '1e-400',
    `1${'0'.repeat(30)}1`,
    `0.${'0'.repeat(400)}1`,
  ]
  for (const digits of long) {
    t.ok(isLongNumber(digits), digits)
    t.strictSame(readJson(`{"a":[{"b":${digits}}]}`).value, { a: [{ b: digits }] }, digits)
    t.strictSame(readJson(digits), { value: digits, longNumbers: [{ field: '', isText: true }] })
    t.strictSame(readJson(`[\n  ${digits} ]`).value, [digits])
  }
})

t.test('all other numbers stay numbers', async (t) => {
  const kept = [
    '9007199254740991',
    '9007199254740992',
    '-9007199254740991',
    '0.1',
    '1.0',
    '1.50000000000000000000000',
    '0.0000001',
    '123456789012345.67',
    '1e23',
    '1.2345678901234567e30',
    '1.7976931348623157e308',
    '5e-324',
    '2.2250738585072014E-308',
    '10000000000000000000',
    '-0',
    '0.00000000000000000000000000',
    '0e-999',
  ]
  for (const digits of kept) {
    t.notOk(isLongNumber(digits), digits)
    t.strictSame(readJson(`{"a":${digits}}`), { value: { a: Number(digits) }, longNumbers: [] }, digits)
  }
  t.strictSame(readJson('[1e400,12345678901234567891]').value, [
    Number.POSITIVE_INFINITY,
    '12345678901234567891',
  ])
})

t.test('a short number stays one where a sender writes all digits of its double', async (t) => {
  t.strictSame(
    readJson('[19.989999999999998, 0.10000000000000001, 1.1000000000000001, -2.6749999999999998]'),
    {
      value: [19.99, 0.1, 1.1, -2.675],
      longNumbers: [],
    },
  )
  t.strictSame(
    readJson('[19.989999999999997, 100000000.01232719]').value,
    ['19.989999999999997', '100000000.01232719'],
    'other digits are no noise',
  )
})

t.test('texts and names are as they were', async (t) => {
  const text = JSON.stringify({
    id: '8202522731445525542',
    'a 8202522731445525542': ' 8202522731445525542, "8202522731445525542": 8202522731445525542 \\',
    '"\\': [':8202522731445525542', '\\"', '\u0000 1234567890123456789'],
  })
  t.strictSame(readJson(`{"x":${text},"y":8202522731445525542}`), {
    value: { x: JSON.parse(text), y: '8202522731445525542' },
    longNumbers: [{ field: 'y', isText: true }],
  })
})

t.test('what is written as JSON is read as it was', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      const { value: read, longNumbers } = readJson(text)
      return JSON.stringify(read) === text && longNumbers.length === 0
    }),
  )
})

t.test('no digit of any number is lost', async () => {
  const digits = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })
  const number = fc
    .tuple(fc.constantFrom('', '-'), digits(1, 25), digits(0, 25))
    .map(([sign, whole, part]) => `${sign}${whole.replace(/^0+(?=.)/, '')}${part === '' ? '' : `.${part}`}`)
  fc.assert(
    fc.property(number, (written) => {
      const { value } = readJson(`{"v": ${written}}`) as { value: { v: string | number } }
      if (typeof value.v === 'string') return value.v === written
      // The digits that were sent are those of the double: the fewest that name it, or all 17.
      return [String(value.v), value.v.toPrecision(17)].some((text) => sizeOf(text) === sizeOf(written))
    }),
    { numRuns: draws(2_000) },
  )
})

/** As a whole number of 10^-60. */
function sizeOf(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', part = ''] = mantissa.split('.')
  return BigInt(whole + part) * 10n ** BigInt(60 - part.length + Number(exponent))
}

t.test('a number stays the nearest double where no text is allowed, and is named', async (t) => {
  const read = readJson('{"data":{"id":8202522731445525542},"value":[1,8202522731445525542]}', (field) =>
    field.startsWith('data'),
  )
  t.strictSame(read, {
    value: { data: { id: '8202522731445525542' }, value: [1, 8202522731445526000] },
    longNumbers: [
      { field: 'value[1]', isText: false },
      { field: 'data.id', isText: true },
    ],
  })
})

t.test('only a text with a long number is read twice', async (t) => {
  for (const text of [
    '{"id":"8202522731445525542","at":"2026-11-27T03:01:35.123456789Z"}',
    '{"iban":"DE89370400440532013000","n":123456789012345}',
    JSON.stringify({ digits: '1234567890'.repeat(1_000) }),
    '[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]',
  ])
    t.notOk(mayHaveLongNumber(text), text.slice(0, 50))
  for (let before = 0; before < 40; before++)
    t.ok(mayHaveLongNumber(`[${' '.repeat(before)}-1234567890123456,"x"]`), `${before}`)
})

t.test('hostile texts are read in time that grows with their length', async (t) => {
  const million = 1_000_000
  for (const text of [
    `[1234567890123456789,"${'\\"'.repeat(million)}"]`,
    `[1234567890123456789,"${'1'.repeat(million)}"]`,
    `[0.1${'0'.repeat(million)}1]`,
    `[${'1'.repeat(300)}.${'0'.repeat(million)}1]`,
    `["${'1'.repeat(million)}",1234567890123456789]`,
    `${'['.repeat(2_000)}1234567890123456789${']'.repeat(2_000)}`,
  ]) {
    const startedAt = process.cpuUsage()
    readJson(text)
    t.ok(process.cpuUsage(startedAt).user < 3_000_000, text.slice(0, 40))
  }
  t.throws(() => readJson('[01234567890123456789]'), SyntaxError)
  t.throws(() => readJson('[1234567890123456789'), SyntaxError)
})
