import fc from 'fast-check'
import t from 'tap'
import { compileJson } from '../src/configs/config-template.js'
import { filters } from '../src/filters/index.js'
import { compileTemplate } from '../src/templates/template.js'
import { timeForms } from '../src/times/read-time.js'
import { maxRenderedLength } from '../src/values/to-text.js'
import { draws } from './fixtures/draws.js'

const data = {
  lead: {
    name: 'ann lee',
    email: 'ann@x.io',
    score: 42.5,
    isVip: false,
    tags: ['a', 'b'],
    nothing: null,
    empty: '',
  },
  at: '2026-03-09T23:05:07.089+01:00',
  // In other zones it is another year, and in the past the offsets of zones had seconds, too.
  yearsEnd: '2026-12-31T23:59:58Z',
  yearsStart: '2026-01-01T00:00:01Z',
  longAgo: '0900-01-01T00:00:00Z',
  code: '0042',
  deseret: '𐐨𐐨',
  emoji: 'ab😀cd',
}

function render(template: unknown, from: unknown = data) {
  const rendering = { warnings: [] as string[], size: 0 }
  return {
    value: compileJson(template).render(from, rendering),
    warnings: rendering.warnings,
    size: rendering.size,
  }
}

t.test('placeholders are rendered, and a lone one keeps its type', async (t) => {
  const cases: [string, unknown][] = [
    ['no placeholder', 'no placeholder'],
    ['', ''],
    ['Hi {{lead.name}}!', 'Hi ann lee!'],
    ['{{ lead.name }}{{lead.email}}', 'ann leeann@x.io'],
    ['{{lead.score}}', 42.5],
    ['{{lead.isVip}}', false],
    ['{{lead.tags}}', ['a', 'b']],
    ['{{lead.tags[1]}}', 'b'],
    ['{{lead.nothing}}', null],
    ['<{{lead.nothing}}>', '<>'],
    [' {{lead.score}}', ' 42.5'],
    ['tags: {{lead.tags}}', 'tags: ["a","b"]'],
    ['\\{{lead.name}}', '{{lead.name}}'],
    ['a\\{{b\\{{c {{lead.isVip}} }}', 'a{{b{{c false }}'],
    ['{"a":{"b":{{lead.score}}}}', '{"a":{"b":42.5}}'],
  ]
  for (const [template, value] of cases)
    t.strictSame(render(template), { ...render(template), value, warnings: [] }, template)
})

t.test('a missing path renders as nothing, with one warning', async (t) => {
  t.strictSame(render('{{no.body}}'), { value: '', warnings: ['no.body is missing'], size: 0 })
  t.strictSame(render('{{no.body}}, {{no.body | upper}}: {{lead.toString}}'), {
    value: ', : ',
    warnings: ['no.body is missing', 'lead.toString is missing'],
    size: 0,
  })
  t.strictSame(render('{{no.body | default:"friend"}}'), { value: 'friend', warnings: [], size: 6 })
  const missing = { value: '', warnings: ['no.body is missing'], size: 0 }
  t.strictSame(render('{{no.body | default:nobody}}'), missing)
  t.strictSame(render('{{lead.nothing | default:nobody}}'), { value: null, warnings: [], size: 0 })
})

t.test('each filter does what its name says', async (t) => {
  const cases: [string, unknown][] = [
    ['{{lead.name | upper}}', 'ANN LEE'],
    ['{{code | lower | trim}}', '0042'],
    ['{{lead.name | capitalize}}', 'Ann lee'],
    ['{{lead.name|upper|truncate:4}}', 'ANN…'],
    ['{{lead.name | truncate:7}}', 'ann lee'],
    ['{{emoji | truncate:4}}', 'ab😀…'],
    ['{{lead.empty | default:"friend"}}', 'friend'],
    ['{{lead.empty | default:lead.name}}', 'ann lee'],
    ['{{lead.empty | default:no | default:lead.tags}}', ['a', 'b']],
    ['{{lead.nothing | upper | default:"a | b: c"}}', 'a | b: c'],
    ['{{no | default:\'say "hi"\'}}', 'say "hi"'],
    ['{{no | default:0}}', 0],
    ['{{no | default:"0"}}', '0'],
    ['{{no | default:"007"}}', '007'],
    ['{{no | default:-1.5}}', -1.5],
    ['{{no | default:true}}', true],
    ['{{no | default:null}}', null],
    ['{{no | default:""}}', ''],
    ['{{lead.isVip | default:"yes"}}', false],
    ['{{at | date}}', '2026-03-09T22:05:07.089Z'],
    ['{{at | date:DD.MM.YYYY HH:mm:ss}}', '09.03.2026 22:05:07'],
    ['{{at | date:"YYYY-MM-DDTHH:mm:ss.SSSZ"}}', '2026-03-09T22:05:07.089Z'],
    ['{{yearsEnd | date:"YYYY-MM-DD HH:mm:ss"}}', '2026-12-31 23:59:58'],
    ['{{yearsStart | date:"YYYY-MM-DD HH:mm:ss"}}', '2026-01-01 00:00:01'],
    ['{{longAgo | date:"YYYY-MM-DD HH:mm:ss.SSS"}}', '0900-01-01 00:00:00.000'],
    ['{{lead.score | number:2}}', '42.50'],
    ['{{lead.score | number:0}}', '43'],
    ['{{lead.score | number}}', 42.5],
    ['{{lead.tags | json}}', '["a","b"]'],
    ['{{lead.name | json}}', '"ann lee"'],
    ['{{lead.nothing | json}}', 'null'],
    ['{{lead.email | urlencode}}', 'ann%40x.io'],
    ['{{lead.tags | upper}}', '["A","B"]'],
    ['{{lead.email | upper | lower}}', 'ann@x.io'],
    ['{{deseret | capitalize}}', '𐐀𐐨'],
    ...['upper', 'trim', 'truncate:3', 'number:2', 'date:YYYY'].map((filter): [string, unknown] => [
      `{{lead.nothing | ${filter}}}`,
      null,
    ]),
    ['{{lead.score | plus:0.5 | minus:1 | times:2 | divided_by:4 | round:1}}', 21],
    ['{{at | add_time:"1h" | in_zone:"Asia/Tokyo" | date:"YYYY-MM-DD HH:mm"}}', '2026-03-10 08:05'],
    ['{{lead.tags | join}}', 'a, b'],
    ['{{lead.tags | size}}', 2],
    ['{{lead.tags | first}}{{lead.tags | last}}', 'ab'],
    ['{{lead.score | number:20}}', '42.50000000000000000000'],
    ['{{lead.name | truncate:10000}}', 'ann lee'],
  ]
  for (const [template, value] of cases)
    t.strictSame(render(template), { ...render(template), value, warnings: [] }, template)
  const named = new Set(
    cases.flatMap(([template]) => [...template.matchAll(/\|\s*([a-z_]+)/g)].map((match) => match[1])),
  )
  for (const name of filters.keys()) t.ok(named.has(name) || name === 'raw', `${name} has a case`)
})

t.test(
  'a number is rounded by its decimal digits, half away from zero, without exponent and negative zero',
  async (t) => {
    const cases: [value: unknown, decimals: number, text: string][] = [
      [1.005, 2, '1.01'],
      ['1.005', 2, '1.01'],
      [2.675, 2, '2.68'],
      [0.285, 2, '0.29'],
      [8.345, 2, '8.35'],
      [4.35, 1, '4.4'],
      [-2.5, 0, '-3'],
      [2.5, 0, '3'],
      [-0.001, 2, '0.00'],
      [-0, 1, '0.0'],
      ['-0.005', 2, '-0.01'],
      ['-0.0049999999999999999999', 2, '0.00'],
      [9.995, 2, '10.00'],
      [0.5, 0, '1'],
      [1e21, 2, '1000000000000000000000.00'],
      [-1e21, 0, '-1000000000000000000000'],
      [1.5e-7, 8, '0.00000015'],
      [5e-324, 20, '0.00000000000000000000'],
      ['1234567890123456789', 2, '1234567890123456789.00'],
      ['12345678901234567.895', 2, '12345678901234567.90'],
      ['9'.repeat(300), 0, '9'.repeat(300)],
    ]
    for (const [value, decimals, text] of cases)
      t.strictSame(render(`{{v | number:${decimals}}}`, { v: value }), {
        value: text,
        warnings: [],
        size: text.length,
      })
  },
)

t.test('any amount of cents is rounded as a cashier does it', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.integer({ min: 0, max: 999 }),
      (units, thousandths) => {
        const sign = units < 0 ? '-' : ''
        const text = `${units}.${String(thousandths).padStart(3, '0')}`
        const cents = Math.abs(units) * 100 + Math.floor((thousandths + 5) / 10)
        const rounded = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
        const wanted = cents === 0 ? rounded : sign + rounded
        return [text, Number(text)].every((v) => render('{{v | number:2}}', { v }).value === wanted)
      },
    ),
  )
})

t.test('a text with more digits than a number keeps stays a text, with a warning', async (t) => {
  for (const v of ['1234567890123456789', '12345678901234567.89', '-9007199254740993', '0.12345678901234567'])
    t.strictSame(render('{{v | number}}', { v }), {
      value: v,
      warnings: ['v has more digits than a number keeps'],
      size: v.length,
    })
  for (const v of ['9007199254740991', '0.1', '1.50'])
    t.equal(render('{{v | number}}', { v }).value, Number(v))
})

t.test('a number is written without an exponent', async (t) => {
  for (const [v, text] of [
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [-1.25e-9, '-0.00000000125'],
    [0.1, '0.1'],
  ])
    t.equal(render('It is {{v}}', { v }).value, `It is ${text}`)
})

t.test('a filter leaves a value of another type unchanged, with a warning', async (t) => {
  t.strictSame(render('{{lead.name | number:2}}'), {
    value: 'ann lee',
    warnings: ['lead.name is not a number'],
    size: 7,
  })
  t.strictSame(render('on {{lead.name | date:YYYY}}'), {
    value: 'on ann lee',
    warnings: [`lead.name is not a date, because "ann lee" is not a time: date reads ${timeForms}`],
    size: 7,
  })
  t.equal(render('{{it | urlencode}}', { it: 'a\ud800b' }).value, 'a%EF%BF%BDb')
})

t.test('rendered text is not rendered again', async (t) => {
  t.equal(render('{{a}} {{b}}', { a: '{{b}}', b: 'x' }).value, '{{b}} x')
  t.equal(render('{{a | default:b}}', { b: '{{c}}', c: 'x' }).value, '{{c}}')
})

t.test('invalid placeholders are reported', async (t) => {
  const cases: [string, RegExp][] = [
    ['{{', /closing \}\}/],
    ['{{a', /closing/],
    ['{{a}', /closing/],
    ['{{a | upper', /closing/],
    ['{{a | default:"x}}', /closing "/],
    ['{{}}', /without a field path/],
    ['{{ }}', /field path/],
    ['{{a..b}}', /field path/],
    ['{{{a}}}', /field path/],
    ['{{#each a}}{{.}}', /field path/],
    ['{{a | plus}}', /plus that needs a number or a field/],
    ['{{a | plus:"1"}}', /needs a number or a field/],
    ['{{a | times:true}}', /needs a number or a field/],
    ['{{a | plus:b..c}}', /needs a number or a field/],
    ['{{a | minus:8202522731445525542}}', /accepts no number with that many digits/],
    ['{{a | divided_by:0}}', /cannot divide by 0/],
    ['{{a | divided_by:0.0}}', /cannot divide by 0/],
    ['{{a | round:21}}', /decimals from 0 to 20/],
    ['{{a | add_time}}', /needs a duration in quotes/],
    ['{{a | add_time:2h}}', /needs quotes around its duration: add_time:"2h"/],
    ['{{a | add_time:"2 hours"}}', /needs a duration in quotes/],
    ['{{a | add_time:"400d"}}', /needs a duration in quotes/],
    ['{{a | add_time:5}}', /needs a duration in quotes/],
    ['{{a | in_zone}}', /needs the name of a time zone/],
    ['{{a | in_zone:"Mars/Base"}}', /needs the name of a time zone/],
    ['{{a | in_zone:"+01:00"}}', /needs the name of a time zone/],
    ['{{a | in_zone:Europe/Berlin}}', /needs quotes around its time zone: in_zone:"Europe\/Berlin"/],
    ['{{a | join:-}}', /needs the text between two items in quotes/],
    ['{{a | size:1}}', /accepts no argument/],
    ['{{a | first:1}}', /accepts no argument/],
    ['{{a | shout}}', /unknown filter: shout/],
    ['{{a |}}', /unknown filter/],
    ['{{a | upper lower}}', /unknown filter/],
    ['{{a | default:"x" y}}', /unknown filter/],
    ['{{a | __proto__}}', /unknown filter/],
    ['{{a | upper:1}}', /accepts no argument/],
    ['{{a | json:1}}', /accepts no argument/],
    ['{{a | default}}', /needs an argument/],
    ['{{a | default:"{{b}}"}}', /default with a brace in its argument/],
    ['{{a | default:{{b}}}}', /default with a brace in its argument/],
    ['{{a | default:{b}}}', /brace in its argument/],
    ['{{a | date:"{YYYY}"}}', /date with a brace in its argument/],
    ['{{a | default:Dear, Sir!.}}', /accepts a text in quotes or a field/],
    ['{{a | raw}}', /raw, which only the text of SEND_NOTIFICATION accepts/],
    ['{{a | raw:1}}', /accepts no argument/],
    ['{{a | raw | upper}}', /raw that is not the last one/],
    ['{{a | truncate}}', /needs a length/],
    ['{{a | truncate:0}}', /needs a length/],
    ['{{a | truncate:x}}', /needs a length/],
    ['{{a | number:1.5}}', /decimals/],
    ['{{a | number:21}}', /decimals/],
    ['{{a | default:8202522731445525542}}', /write it as a text in quotes/],
    ['{{a | default:12345678901234567.89}}', /write it as a text in quotes/],
    ['{{a | date:"D MMMM"}}', /format/],
    ['{{a | date:""}}', /format/],
    [`{{a${' | trim'.repeat(11)}}}`, /more than 10 filters/],
    ...['truncate:0', 'truncate:10001', 'truncate:1.5'].map((filter): [string, RegExp] => [
      `{{a | ${filter}}}`,
      /a length from 1 to 10000/,
    ]),
    ...['number:-1', 'number:21', 'number:0.5', 'number:x'].map((filter): [string, RegExp] => [
      `{{a | ${filter}}}`,
      /decimals from 0 to 20/,
    ]),
  ]
  for (const [template, fault] of cases) {
    t.match(compileTemplate(template), fault, template)
    const rendering: { warnings: string[]; size: number; fault?: string } = { warnings: [], size: 0 }
    compileJson({ deep: [template] }).render({}, rendering)
    t.match(rendering.fault, fault)
  }
})

t.test('a config is rendered deeply, without its keys, and its constant parts are shared', async (t) => {
  const config = {
    '{{key}}': ['{{lead.score}}', { a: 'x{{lead.isVip}}' }],
    fixed: { list: [1, null, true] },
    no: 5,
  }
  const rendered = render(config).value
  t.strictSame(rendered, { '{{key}}': [42.5, { a: 'xfalse' }], fixed: { list: [1, null, true] }, no: 5 })
  const template = compileJson(config)
  const [one, two] = [1, 2].map(() => template.render(data, { warnings: [], size: 0 }) as typeof config)
  t.equal(one?.fixed, two?.fixed)
  t.ok(Object.isFrozen(one?.fixed.list))
  t.notOk(Object.isFrozen(config.fixed), 'the original is not frozen')
  const proto = render(
    JSON.parse('{"__proto__":{"x":"{{lead.score}}"},"constructor":"{{lead.score}}"}'),
  ).value
  t.equal(JSON.stringify(proto), '{"__proto__":{"x":42.5},"constructor":42.5}')
  t.equal((proto as { x?: unknown }).x, undefined)
})

t.test('a config has a maximum number of rendered characters', async (t) => {
  const big = { text: 'x'.repeat(maxRenderedLength / 2), list: ['x'.repeat(maxRenderedLength / 2)] }
  for (const template of [
    '{{text}}{{text}}{{text}}{{text}}',
    ['{{list}}', '{{list}}', '{{list}}', '{{list}}'],
  ]) {
    const { value, size } = render(template, big)
    t.ok(size > maxRenderedLength, 'the text shows that it was cut')
    t.ok(JSON.stringify(value).length <= maxRenderedLength + 100)
  }
  t.ok(
    render(`{{it${' | json'.repeat(10)}}}`, { it: '"'.repeat(maxRenderedLength / 2) }).size <
      3 * maxRenderedLength,
    'also by powers',
  )
  const full = { text: 'x'.repeat(maxRenderedLength), more: 'x'.repeat(maxRenderedLength + 1) }
  t.equal(render('{{text}}', full).value, full.text, 'exactly the maximum')
  t.equal(render('<{{text}}>', full).value, `<${full.text}>`)
  t.equal(render('{{more}}', full).value, '')
  t.equal(render('{{more | truncate:3}}', full).value, '', 'filters get no longer text either')
})

t.test('a template renders with any data', async (t) => {
  const chain = fc.array(
    fc.constantFrom(
      'upper',
      'lower',
      'trim',
      'capitalize',
      'truncate:3',
      'date',
      'date:YYYY',
      'number',
      'number:2',
      'json',
      'urlencode',
      'default:x',
      'plus:a',
      'times:a.b',
      'divided_by:b',
      'round:2',
      'add_time:"2h"',
      'in_zone:"Asia/Tokyo"',
      'in_zone:a',
      'join:"; "',
      'size',
      'first',
      'last',
    ),
    { maxLength: 4 },
  )
  const path = fc.constantFrom('a', 'a.b', 'a[0]', '__proto__', 'constructor', 'a.length')
  const placeholder = fc.tuple(path, chain).map(([path, names]) => `{{${[path, ...names].join(' | ')}}}`)
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withMap: true }),
  )
  const value = fc.oneof(anything, fc.record({ a: anything }), fc.record({ a: fc.record({ b: anything }) }))
  fc.assert(
    fc.property(
      fc.array(fc.oneof(placeholder, fc.constantFrom('', 'x', '}}', '\\{{')), { minLength: 1 }),
      value,
      (parts, data) => {
        const { value } = render(parts.join(''), data)
        return parts.length === 1 || parts.filter(Boolean).length === 1 || typeof value === 'string'
      },
    ),
    { numRuns: draws(2_000) },
  )
  const cycle: Record<string, unknown> = {}
  cycle.a = cycle
  t.equal(render('x{{a}}', cycle).value, 'x')
  t.equal(
    render('{{a}}', {
      get a() {
        throw new Error('no')
      },
    }).value,
    '',
  )
})

t.test('any text is a template or has a fault', async () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{',
    '}',
    '|',
    ':',
    '"',
    "'",
    '\\',
    ' ',
    'a',
    'default',
    'upper',
    '.',
    '[0]',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((pieces) => pieces.join('')),
      ),
      (text) => {
        const template = compileTemplate(text)
        return typeof template === 'string'
          ? template.length > 0
          : template.placeholders > 0 || typeof template.constant === 'string'
      },
    ),
    { numRuns: draws(3_000) },
  )
})
