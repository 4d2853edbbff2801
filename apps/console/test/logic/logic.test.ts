import { actionDefinitions } from '@automation/engine'
import fc from 'fast-check'
import t from 'tap'
import { describeActual, describeClause } from '../../pages/logic/describe-clause.js'
import { diffLines } from '../../pages/logic/diff-lines.js'
import { type FieldSchema, kindOfField } from '../../pages/logic/editing/schema-kind.js'
import { splitAddresses } from '../../pages/logic/editing/split-addresses.js'
import { evaluateDefinition } from '../../pages/logic/evaluate-definition.js'
import { fieldOfFault } from '../../pages/logic/field-of-fault.js'
import { readSpan, writeQuery } from '../../pages/logic/filters.js'
import { formatDuration, formatTime, readLocalTime, writeLocalTime } from '../../pages/logic/format-time.js'
import { namePath } from '../../pages/logic/name-path.js'
import { findNearestPath, listConditionPaths } from '../../pages/logic/paths.js'
import { rankChoices } from '../../pages/logic/rank.js'
import { readDefinition, writeDefinition } from '../../pages/logic/rule-definition.js'
import { show } from '../../pages/logic/show.js'
import { sliceText } from '../../pages/logic/slice-text.js'
import {
  readList,
  readNumber,
  readScalar,
  readTexts,
  valueKindOf,
  writeList,
  writeScalar,
} from '../../pages/logic/value-kind.js'
import { windowRows } from '../../pages/logic/window-rows.js'

t.test(
  'a clause that stops says what the engine says: how far off the value is, and why it is not read',
  async (t) => {
    const evaluate = (operator: string, value: unknown, data: object, field = 'score') => {
      const clause = { field, operator, value }
      const definition = {
        name: '',
        description: '',
        trigger: 'LEAD_CREATED',
        conditions: [clause],
        actions: [],
      }
      const sample = { id: '1', data, acceptedAt: null }
      const { verdicts } = evaluateDefinition(
        definition as never,
        [sample],
        Date.parse('2026-03-10T12:00:00Z'),
      )
      return verdicts[0]?.conditions[0] ?? {}
    }
    t.equal(describeClause(evaluate('greater_than', 80, {})), 'score > 80')
    const actual = (...given: Parameters<typeof evaluate>) => describeActual(evaluate(...given))
    const hours = { days: 'mon-fri', from: '14:00', to: '18:00', timezone: 'Europe/Berlin' }
    const time = evaluateDefinition(
      { trigger: 'LEAD_CREATED', conditions: [{ time: hours }], actions: [] } as never,
      [{ id: '1', data: {}, acceptedAt: null }],
      Date.parse('2026-03-10T12:00:00Z'),
    ).verdicts[0]?.conditions[0]
    t.equal(describeClause(time ?? {}), 'it is every weekday, 14:00 to 18:00, in Europe/Berlin')
    t.match(describeActual(time ?? {}), /^was Tuesday, 13:00 \(1 h off\)$/)
    t.equal(actual('greater_than', 80, { score: 10 }), 'is 10 (70 short)')
    t.equal(actual('greater_than', 80, { score: '10' }), 'is "10" (70 short)')
    t.equal(actual('less_than', 80, { score: 90.5 }), 'is 90.5 (10.5 over)')
    t.equal(actual('equals', 80, { score: 90 }), 'is 90 (10 off)')
    t.equal(actual('greater_than', 80, { score: 80 }), 'is 80')
    for (const score of [' 80', 'a', '1e3', true, [800], null, '0x50'])
      t.match(actual('greater_than', 800, { score }), /^is [^(]*; .*: greater_than reads numbers, and texts/)
    t.equal(
      actual('before', '2026-01-01', { score: '2026-01-02T00:00:00+0000' }),
      'is "2026-01-02T00:00:00+0000" (24 h off)',
    )
    t.match(actual('before', '2026-01-01', { score: 0 }), /^is 0; 0 is too small a number for a time/)
    t.equal(
      actual('equals', 'a', { items: [] }, 'items.sku'),
      'no such field; items is a list: the path needs the index of an item, such as items[0].sku',
    )
    const clause = evaluate('greater_than', 80, {})
    t.equal(describeActual(clause, ['lead.score']), 'no such field; did you mean lead.score?')
    t.equal(describeActual({ ...clause, field: 'scor' }, ['score']), 'no such field; did you mean score?')
    t.equal(describeActual({ ...clause, field: 'x' }, ['score']), 'no such field')
  },
)

t.test('paths come from the data, each with an example', async (t) => {
  t.same(
    listConditionPaths([
      { lead: { score: 1 }, tags: ['a'] },
      { lead: { score: 2 }, vip: true },
    ]),
    [
      { path: 'lead', kind: 'object', example: { score: 1 } },
      { path: 'lead.score', kind: 'number', example: 1 },
      { path: 'tags', kind: 'array', example: ['a'] },
      { path: 'tags[0]', kind: 'string', example: 'a' },
      { path: 'vip', kind: 'boolean', example: true },
    ],
  )
  t.equal(findNearestPath('scroe', ['state', 'score']), 'score')
  t.equal(findNearestPath('score', ['score']), undefined, 'what is there needs no proposal')
})

t.test('a typed value is read as it was written', async () => {
  const scalar = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  )
  fc.assert(
    fc.property(
      scalar,
      (value) => Object.is(readScalar(writeScalar(value)), value) || readScalar(writeScalar(value)) === value,
    ),
  )
})

t.test('a typed number with more digits than a number keeps stays as it was typed', async (t) => {
  for (const text of ['8202522731445525542', '-9007199254740993', '12345678901234567.89', '1e400'])
    t.equal(readScalar(text), text)
  t.same(readList('8202522731445525542, 7'), ['8202522731445525542', 7])
  t.equal(readNumber('8202522731445525542'), '8202522731445525542')
  t.equal(readNumber('12.50'), 12.5)
})

t.test('lists and kinds of values', async (t) => {
  t.same(readList('DE, AT, "a, b", 5, true'), ['DE', 'AT', 'a, b', 5, true])
  t.equal(writeList(['DE', 'a, b', 5]), 'DE, "a, b", 5')
  const texts = ['1.10', '1e3', 'true', 'a, b', 'team "x"']
  t.same(readTexts('1.10, 1e3, true'), ['1.10', '1e3', 'true'])
  t.same(readTexts(writeList(texts)), texts)
  t.same(
    [
      undefined,
      { type: 'number' },
      { type: 'string' },
      { type: 'array' },
      { type: 'array', minItems: 2, maxItems: 2 },
      {},
    ].map(valueKindOf),
    ['none', 'number', 'text', 'list', 'range', 'scalar'],
  )
})

t.test('a fault goes to its field, or to the nearest above it', async (t) => {
  const fields = ['actions', 'actions[1]', 'actions[1].config.to', 'actions[10].config.to', 'name']
  t.equal(fieldOfFault('actions[1].config.to', fields), 'actions[1].config.to')
  t.equal(fieldOfFault('actions[1].config.headers.x', fields), 'actions[1]')
  t.equal(fieldOfFault('actions[100].config', fields), 'actions')
  t.equal(fieldOfFault('conditions[0]', fields), undefined)
})

t.test('equal filters have equal addresses, and a wrong span is the usual one', async (t) => {
  t.equal(writeQuery({ b: '2', a: 'x y', c: '', d: undefined }), '?a=x+y&b=2')
  t.equal(writeQuery({}), '')
  t.equal(readSpan('7d'), '7d')
  t.equal(readSpan('toString'), '24h')
})

t.test('a long list has few rows in the document, and always those in view', async () => {
  fc.assert(
    fc.property(
      fc.nat(100_000),
      fc.nat(5_000_000),
      fc.integer({ min: 100, max: 1_200 }),
      (count, top, height) => {
        const { first, end } = windowRows(count, 44, { top, height })
        if (count < 500) return first === 0 && end === count
        const isShown = (row: number) => row >= first && row < end
        const seen = [Math.floor(top / 44), Math.floor((top + height - 1) / 44)].filter((row) => row < count)
        return end - first <= 60 && first >= 0 && end <= count && seen.every(isShown)
      },
    ),
  )
})

t.test('times are told in the zone of the page', async (t) => {
  const now = new Date('2026-11-23T12:00:00Z')
  t.equal(formatTime('2026-11-23T09:05:07Z', 'UTC', now), '09:05:07')
  t.equal(formatTime('2026-11-22T23:59:59Z', 'UTC', now), 'Nov 22, 23:59')
  t.match(formatTime('2025-11-22T23:59:59Z', 'UTC', now), /2025/)
  t.same([41, 3_200, 300_000, 68_400_000, 864_000_000].map(formatDuration), [
    '41 ms',
    '3.2 s',
    '5 min',
    '19 h',
    '10 d',
  ])
})

t.test('the palette puts the best first', async (t) => {
  const choices = ['Webhooks', 'Rules', 'New rule', 'Today'].map((label) => ({ label }))
  t.same(
    rankChoices(choices, 'rule').map(({ label }) => label),
    ['Rules', 'New rule'],
  )
  t.same(
    rankChoices([{ label: 'Overruled' }, ...choices], 'rule').map(({ label }) => label),
    ['Rules', 'New rule', 'Overruled'],
    'the start of a later word comes before the middle of one',
  )
  t.same(
    rankChoices(choices, 'wks').map(({ label }) => label),
    ['Webhooks'],
  )
  t.equal(rankChoices(choices, '').length, 4)
  t.equal(rankChoices(choices, 'zzz').length, 0)
})

t.test('a diff has both texts in it', async () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const without = (kind: string) =>
        lines
          .filter((line) => line.kind !== kind)
          .map((line) => line.text)
          .join('\n')
      return without('added') === before && without('removed') === after
    }),
  )
})

t.test('the JSON tab reads what it wrote, and says why it cannot', async (t) => {
  const definition = { name: 'n', description: '', trigger: 'LEAD_CREATED', conditions: [], actions: [] }
  t.same(readDefinition(writeDefinition(definition)), definition)
  for (const text of ['{', '[]', '5', '{"conditions":5}', '{"name":5}'])
    t.type(readDefinition(text), 'string', text)
  t.equal(
    readDefinition('{"conditions":[{"field":"a"}],"conditions":[]}'),
    'conditions: Is there twice: write it once.',
  )
  t.match(
    readDefinition('{"conditions":[{"field":"id","operator":"equals","value":8202522731445525542}]}'),
    /^conditions\[0\]\.value: Has more digits than a number can keep. Write it as a string/,
  )
})

t.test('a moment stays the same in a field of the page, in any zone', async (t) => {
  const iso = '2026-11-23T14:01:58.000Z'
  t.equal(writeLocalTime(iso, 'UTC'), '2026-11-23T14:01:58')
  for (const zone of ['UTC', 'local'] as const) t.equal(readLocalTime(writeLocalTime(iso, zone), zone), iso)
  t.equal(readLocalTime('', 'UTC'), undefined)
  t.equal(writeLocalTime('no time', 'UTC'), '')
})

t.test('a value is shown on one line, cut, and only as much of it is read', async (t) => {
  t.equal(show({ a: [1, 'x', null, true], b: {} }), '{"a":[1,"x",null,true],"b":{}}')
  t.equal(show(undefined), 'nothing')
  t.equal(show('x'.repeat(1_000_000)).length, 81)
  let reads = 0
  const counted = Array.from({ length: 1_000 }, () => ({
    get a() {
      return ++reads
    },
  }))
  t.match(show(counted), /…$/)
  t.ok(reads < 40, `${reads} of 1,000 were read`)
  t.equal(show('\u202Eexe'), '"\\u202eexe"', 'a mark of direction is seen, and turns nothing')
})

t.test('a long text is cut into parts at the ends of lines, and nothing is lost', async (t) => {
  t.strictSame(sliceText('ab\ncd\nef', 4), ['ab\n', 'cd\n', 'ef'])
  t.strictSame(sliceText('abcdef', 4), ['abcd', 'ef'])
  t.strictSame(sliceText('', 4), [])
  fc.assert(
    fc.property(
      fc.string(),
      fc.integer({ min: 1, max: 9 }),
      (text, size) => sliceText(text, size).join('') === text,
    ),
  )
})

t.test('a place in a rule has words', async (t) => {
  t.equal(namePath('conditions[0].any[1]'), 'condition 1, part 2')
  t.equal(namePath('actions[1].config.to'), 'action 2, to')
  t.equal(namePath('actions[0]'), 'action 1')
  t.equal(namePath('conditions'), 'the conditions')
})

t.test('what is pasted is split into addresses, and a placeholder stays whole', async (t) => {
  const pasted = 'ada@example.com, bo@example.com\r\n{{owner.email | default:"a, b"}},,\n cy@example.com '
  t.strictSame(splitAddresses(pasted), [
    'ada@example.com',
    'bo@example.com',
    '{{owner.email | default:"a, b"}}',
    'cy@example.com',
  ])
  t.strictSame(splitAddresses('ada@example.com'), ['ada@example.com'])
  t.strictSame(splitAddresses('bo@x.example; cy@x.example;{{a | default:"b;c"}};'), [
    'bo@x.example',
    'cy@x.example',
    '{{a | default:"b;c"}}',
  ])
  t.strictSame(splitAddresses(' ,\n'), [])
})

t.test('a field that takes one address or a list has chips for them', async (t) => {
  const sendEmail = actionDefinitions.find(({ type }) => type === 'SEND_EMAIL')
  const { to, cc } = (sendEmail?.config.properties ?? {}) as Record<string, FieldSchema>
  t.strictSame(
    [to, cc].map((schema) => kindOfField(schema ?? {})),
    ['addresses', 'addresses'],
  )
})
