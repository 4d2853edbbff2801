import fc from 'fast-check'
import t from 'tap'
import { compileJson } from '../src/configs/config-template.js'
import { maxRenderedLength } from '../src/values/to-text.js'
import { Evaluation } from '../src/work/evaluation.js'

function render(template: string, data: unknown, evaluation?: Evaluation) {
  const rendering = { warnings: [] as string[], size: 0, ...(evaluation && { evaluation }) }
  const value = compileJson(template).render(data, rendering)
  return { ...rendering, value }
}

t.test('arithmetic is decimal, and a result with more digits than a number keeps is text', async (t) => {
  const cases: [a: unknown, filter: string, b: unknown, result: unknown][] = [
    [0.1, 'plus', 0.2, 0.3],
    ['0.1', 'plus', '0.2', 0.3],
    [1.005, 'times', 1000, 1005],
    [0.3, 'minus', 0.1, 0.2],
    [5, 'minus', '7.50', -2.5],
    [-0.1, 'plus', 0.1, 0],
    [10, 'divided_by', 4, 2.5],
    [10, 'divided_by', 3, 10 / 3],
    [-1, 'divided_by', 3, -1 / 3],
    [1, 'divided_by', 8e20, 1.25e-21],
    [1e308, 'times', 10, `1${'0'.repeat(309)}`],
    [5e-324, 'plus', 1, `1.${'0'.repeat(323)}5`],
    ['8202522731445525542', 'plus', 1, '8202522731445525543'],
    ['8202522731445525542', 'divided_by', 2, '4101261365722762771'],
    ['8202522731445525542', 'divided_by', 3, '2734174243815175180.66666666666666666666'],
    [9007199254740991, 'plus', 2, '9007199254740993'],
    [1e21, 'plus', 0, 1e21],
  ]
  for (const [a, filter, b, value] of cases)
    t.match(
      render(`{{a | ${filter}:b}}`, { a, b }),
      { value, warnings: { length: 0 } },
      `${a} ${filter} ${b}`,
    )
  t.equal(render('{{a | times:3}} EUR', { a: 19.99 }).value, '59.97 EUR')
  t.equal(render('{{a | plus:1}}', { a: 0.2 }).value, 1.2)
})

t.test('sums and products of cents are those of a cashier', async () => {
  const cents = fc.integer({ min: -1e9, max: 1e9 })
  const write = (value: number) => {
    const size = String(Math.abs(value)).padStart(3, '0')
    return `${value < 0 ? '-' : ''}${size.slice(0, -2)}.${size.slice(-2)}`
  }
  fc.assert(
    fc.property(cents, cents, fc.integer({ min: -1000, max: 1000 }), (a, b, n) => {
      const data = { a: (a / 100).toFixed(2), b: (b / 100).toFixed(2), n }
      const sum = render('{{a | plus:b | number:2}}', data).value
      const difference = render('{{a | minus:b | number:2}}', data).value
      const product = render('{{a | times:n | number:2}}', data).value
      return sum === write(a + b) && difference === write(a - b) && product === write(a * n)
    }),
  )
})

t.test(
  'what is no number has no result and a warning that names it, never the value as it was',
  async (t) => {
    const data = { price: 10, name: 'Ada', list: [1], zero: 0, nothing: null, half: '0.5', id: '007' }
    const cases: [template: string, warning: string][] = [
      ['{{name | plus:1}}', 'name is "Ada", and no number: plus reads numbers'],
      ['{{id | times:2}}', 'id is "007", and no number: times reads numbers'],
      ['{{list | minus:1}}', 'list is a list, and no number: minus reads numbers'],
      ['{{nothing | plus:1}}', 'nothing is null, and no number: plus reads numbers'],
      ['{{price | plus:name}}', 'price has no result: name is "Ada", and no number'],
      ['{{price | times:qty}}', 'price has no result: qty is missing'],
      ['{{price | divided_by:zero}}', 'price has no result: zero is 0'],
      ['{{name | round}}', 'name is "Ada", and no number: round reads numbers'],
      ['{{qty | plus:1}}', 'qty is missing'],
    ]
    for (const [template, warning] of cases)
      t.match(render(template, data), { value: '', warnings: [warning] }, template)
    t.match(render('{{qty | plus:1 | default:0}}', data), { value: 0, warnings: { length: 0 } })
    const given: [unknown, unknown][] = [
      [undefined, 'x'],
      [null, 'x'],
      ['', 'x'],
      [' ', ' '],
      [0, 0],
      [false, false],
    ]
    for (const [a, value] of given) t.match(render('{{a | default:"x"}}', { a }), { value }, `${a}`)
    const long = `0.${'0'.repeat(900)}1`
    t.match(render('{{a | times:a}}', { a: long }), {
      value: '',
      warnings: ['a has no result: times makes more than 1000 digits'],
    })
  },
)

t.test('round gives a number, half away from zero', async (t) => {
  for (const [a, decimals, value] of [
    [2.5, '', 3],
    [-2.5, '', -3],
    [1.005, ':2', 1.01],
    ['2.675', ':2', 2.68],
    [0.4, ':0', 0],
    ['12345678901234567.895', ':2', '12345678901234567.90'],
  ])
    t.strictSame(render(`{{a | round${decimals}}}`, { a }).value, value)
})

t.test('a time is moved, and written in a zone, through the changes of its clock', async (t) => {
  const cases: [template: string, at: unknown, value: string][] = [
    ['{{at | add_time:"90m"}}', '2026-03-29T00:00:00Z', '2026-03-29T01:30:00.000Z'],
    ['{{at | add_time:"-1d"}}', 1774742400, '2026-03-28T00:00:00.000Z'],
    ['{{at | add_time:"+2w"}}', '2026-03-01', '2026-03-15T00:00:00.000Z'],
    ['{{at | add_time:delay}}', '2026-03-01', '2026-03-01T03:00:00.000Z'],
    ['{{at | in_zone:"Europe/Berlin"}}', '2026-03-29T00:59:59.5Z', '2026-03-29T01:59:59.500+01:00'],
    ['{{at | in_zone:"Europe/Berlin"}}', '2026-03-29T01:00:00Z', '2026-03-29T03:00:00.000+02:00'],
    ['{{at | in_zone:"Europe/Berlin"}}', '2026-10-25T00:30:00Z', '2026-10-25T02:30:00.000+02:00'],
    ['{{at | in_zone:"Europe/Berlin"}}', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00.000+01:00'],
    ['{{at | in_zone:zone}}', '2026-07-01T00:00:00Z', '2026-07-01T05:45:00.000+05:45'],
    ['{{at | in_zone:"america/new_york"}}', '2026-07-01T00:00:00Z', '2026-06-30T20:00:00.000-04:00'],
    ['{{at | in_zone:"UTC"}}', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000+00:00'],
    ['{{at | in_zone:"Asia/Tokyo" | add_time:"1h" | date:"DD. HH:mm"}}', '2026-12-31T14:30:00Z', '01. 00:30'],
    ['{{at | in_zone:"Asia/Tokyo" | date}}', '2026-12-31T14:30:00Z', '2026-12-31T23:30:00.000+09:00'],
    ['{{at | in_zone:"Asia/Tokyo" | json}}', '2026-12-31T14:30:00Z', '"2026-12-31T23:30:00.000+09:00"'],
    ['at {{at | in_zone:"Asia/Tokyo" | truncate:11}}', '2026-12-31T14:30:00Z', 'at 2026-12-31…'],
    [
      '{{at | in_zone:"Asia/Tokyo" | urlencode}}',
      '2026-12-31T14:30:00Z',
      '2026-12-31T23%3A30%3A00.000%2B09%3A00',
    ],
  ]
  for (const [template, at, value] of cases)
    t.match(
      render(template, { at, delay: '3h', zone: 'Asia/Kathmandu' }),
      { value, warnings: { length: 0 } },
      template,
    )
})

t.test('what is no time, no duration or no zone has no result and a warning', async (t) => {
  const at = '2026-03-01'
  const cases: [template: string, data: object, warning: RegExp][] = [
    [
      '{{at | add_time:"1h"}}',
      { at: 'soon' },
      /^at is not a time, because "soon" is not a time: add_time reads /,
    ],
    ['{{at | add_time:"1h"}}', { at: null }, /^at is not a time/],
    ['{{at | in_zone:"UTC"}}', { at: 95 }, /^at is not a time, because 95 is too small/],
    ['{{at | add_time:d}}', { at }, /^at has no result: d is missing$/],
    [
      '{{at | add_time:d}}',
      { at, d: '2 days' },
      /^at has no result: d is "2 days", and no duration such as 2h or -1d$/,
    ],
    [
      '{{at | in_zone:z}}',
      { at, z: 'Mars' },
      /^at has no result: z is "Mars", and no time zone such as Europe\/Berlin$/,
    ],
    ['{{at | in_zone:z}}', { at, z: ['UTC'] }, /no time zone/],
    ['{{at | add_time:"1d"}}', { at: 8.64e15 }, /^at has no result: the time is out of range$/],
  ]
  for (const [template, data, warning] of cases) {
    const { value, warnings } = render(template, data)
    t.equal(value, '', template)
    t.match(warnings, [warning])
  }
  t.match(render('{{no | in_zone:"UTC"}}', {}), { value: '', warnings: ['no is missing'] })
})

t.test('every time is written in a zone as it can be read back', async () => {
  const zone = fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Pacific/Apia', 'Asia/Kathmandu', 'UTC')
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), zone, (at, name) => {
      const { value } = render('{{at | date | in_zone:zone}}', { at: at + 1e11, zone: name })
      return Date.parse(value as string) === at + 1e11
    }),
  )
})

t.test('lists are joined, counted, and asked for their ends', async (t) => {
  const data = { tags: ['a', 7, null, { b: 1 }], none: [], text: 'ab😀', n: 5 }
  t.equal(render('{{tags | join}}', data).value, 'a, 7, , {"b":1}')
  t.equal(render('{{tags | join:""}}', data).value, 'a7{"b":1}')
  t.equal(render('{{none | join}}', data).value, '')
  t.equal(render('{{tags | size}}', data).value, 4)
  t.equal(render('{{text | size}}', data).value, 3)
  t.match(render('{{n | size}}', data), { value: '', warnings: ['n is 5: size reads lists and texts'] })
  t.equal(render('{{tags | first}}', data).value, 'a')
  t.strictSame(render('{{tags | last}}', data).value, { b: 1 })
  t.match(render('{{none | first}}', data), { value: '', warnings: ['none is missing'] })
  t.match(render('{{text | join}}', data), { value: 'ab😀', warnings: ['text is "ab😀": join reads lists'] })
  t.match(render('{{text | first}}', data), {
    value: 'ab😀',
    warnings: ['text is "ab😀": first reads lists'],
  })
})

t.test('the work of these filters is charged, and no separator fills the memory', async (t) => {
  const items = Array.from({ length: 20_000 }, () => 'x')
  const evaluation = new Evaluation(0)
  const { value, size } = render(`{{items | join:"${'-'.repeat(9_000)}"}}`, { items }, evaluation)
  t.equal(value, '')
  t.ok(size > maxRenderedLength, 'it is over the limit')
  t.ok(size < maxRenderedLength + 10_000)
  t.ok(evaluation.spent > 80_000)
  const zones = new Evaluation(0)
  for (let n = 0; n < 2_000; n++) render('{{at | in_zone:z}}', { at: '2026-01-01', z: `No${n}` }, zones)
  t.equal(zones.affords(0), false, '2,000 zones that do not exist are more than a rule may ask for')
})
