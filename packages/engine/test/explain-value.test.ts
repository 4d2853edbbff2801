import fc from 'fast-check'
import t from 'tap'
import { compileCondition } from '../src/conditions/conditions.js'
import { explainWhy } from '../src/explaining/why.js'
import { operators } from '../src/operators/index.js'
import type { ClauseTrace } from '../src/results/outcome.js'
import type { Condition } from '../src/rule.js'
import { compileTemplate } from '../src/templates/template.js'
import { Evaluation } from '../src/work/evaluation.js'

const now = Date.parse('2026-03-10T12:00:00Z')

function explain(field: string, operator: string, value: unknown, data: object): ClauseTrace {
  const evaluation = new Evaluation(now)
  return compileCondition({ field, operator, value }).explain(data, evaluation, evaluation) as ClauseTrace
}

const noteOf = (operator: string, value: unknown, it: unknown) => explain('it', operator, value, { it }).note

t.test('a text that only looks like a wanted one says so', async (t) => {
  for (const it of ['WON', 'won ', ' won', 'w\u200bon', '\ufeffwon', 'ｗｏｎ', 'won\u00a0'])
    for (const [operator, value] of [
      ['equals', 'won'],
      ['not_equals', 'won'],
      ['in', ['lost', 'won']],
      ['not_in', [7, 'won', null]],
    ] as const)
      t.equal(
        noteOf(operator, value, it),
        'it differs from "won" only in upper and lower case, white space, or characters that look the same',
        `${operator} ${encodeURI(it)}`,
      )
  t.match(noteOf('equals', 'Café', 'Cafe\u0301'), /^it differs from "Café" only/)
  for (const [one, other] of [
    ['istanbul', '\u0130stanbul'],
    ['I\u011eDIR', '\u0131\u011fd\u0131r'],
    ['STRASSE', 'straße'],
    ['ΟΔΟΣ', 'οδος'],
  ] as const)
    for (const [wanted, actual] of [
      [one, other],
      [other, one],
    ] as const)
      t.match(noteOf('equals', wanted, actual), /only in upper and lower case/, `${wanted} ${actual}`)
  for (const it of ['won', 'lost', 'won!', '', 'x'.repeat(201), 7])
    t.equal(noteOf('equals', 'won', it), undefined)
})

t.test('a value that an operator cannot read says so, with what is read', async (t) => {
  const cases: [operator: string, value: unknown, actual: unknown, note: RegExp][] = [
    [
      'greater_than',
      80,
      '95 points',
      /^"95 points" is not a number: greater_than reads numbers, and texts .*"80"/,
    ],
    ['less_than', 80, ' 80', /^" 80" is not a number/],
    ['between', [1, 5], '1e3', /^"1e3" is not a number/],
    ['not_between', [1, 5], 'n/a', /^"n\/a" is not a number: not_between reads/],
    ['greater_than', 80, [95], /^a list counts as missing: greater_than reads numbers/],
    ['greater_than', 80, null, /^null counts as missing/],
    ['starts_with', '65', 6535, /^a number counts as missing: starts_with reads texts$/],
    ['matches', '^65', 6535, /^a number counts as missing: matches reads texts/],
    ['matches', 'a', 'a'.repeat(100_001), /^the text is too long: matches reads texts of at most 100,000/],
    ['contains', 3, '123', /^3 is not a text, so no text contains it: contains reads texts.*"3", and lists/],
    ['contains', 'vip', { vip: true }, /^an object counts as missing: contains reads texts/],
    ['contains_any', [3, 'x'], '123', /^3 is not a text/],
    ['contains_all', ['1', null], '123', /^null is not a text/],
    ['equals', 'vip', ['vip'], /^a list counts as missing: equals reads .*contains reads lists/],
    ['in', ['vip'], { a: 1 }, /^an object counts as missing: in reads/],
    [
      'is_true',
      undefined,
      'true',
      /^a text counts as missing: is_true reads true and false, which are no texts/,
    ],
    [
      'before',
      '2026-01-01',
      '2025-12-31T12:00:00',
      /has no zone, so it is not a time: before reads dates, .*RFC 2822/,
    ],
    ['before', '2026-01-01', 0, /^0 is too small a number for a time/],
    ['within_last', '1d', 95, /^95 is too small a number/],
    ['within_last', '1d', '1773144000', /is a text of digits, .*: within_last reads/],
    ['within_next', '1d', true, /^a boolean counts as missing: within_next reads dates/],
  ]
  for (const [operator, value, actual, note] of cases) t.match(noteOf(operator, value, actual), note)
})

t.test('a number that is read as a time says how', async (t) => {
  t.match(explain('at', 'before', '2026-01-01', { at: 1_767_225_600 }), {
    actual: 1_767_225_600,
    verdict: false,
    distanceMs: 0,
    note: 'read as Unix seconds: 2026-01-01T00:00:00.000Z',
  })
  t.match(explain('at', 'after', '2025-01-01', { at: 1_767_225_600_000 }), {
    verdict: true,
    note: 'read as milliseconds since 1970: 2026-01-01T00:00:00.000Z',
  })
})

t.test('a value that was read needs no note', async (t) => {
  for (const { name, example } of operators)
    for (const actual of [...example.holds, ...example.fails]) {
      const { verdict, note } = explain('it', name, example.value, { it: actual })
      if (verdict && !name.startsWith('not_') && typeof actual !== 'number') t.equal(note, undefined, name)
    }
  t.equal(noteOf('exists', undefined, null), undefined)
  t.equal(noteOf('is_empty', undefined, 5), undefined)
})

t.test('a value of a kind that an operator does not read always has a note', async (t) => {
  const asking = ['exists', 'not_exists', 'is_empty', 'is_not_empty']
  for (const { name, example, compares, reads } of operators) {
    t.equal(reads === undefined, asking.includes(name), `${name} says what it reads`)
    if (reads === undefined) continue
    fc.assert(
      fc.property(fc.jsonValue(), (it) => {
        const kind = it === null ? 'null' : Array.isArray(it) ? 'array' : typeof it
        const { note } = explain('it', name, example.value, { it })
        return compares.some((one) => one === kind) || note?.includes(`${name} reads ${reads}`) === true
      }),
      { numRuns: 100 },
    )
  }
})

t.test('a path that goes on below a list or a scalar says so', async (t) => {
  const data = { items: [{ sku: 'a', tags: ['x'] }], lead: { name: 'Ada', tags: ['vip'], at: null } }
  const cases: [field: string, note: string | undefined][] = [
    ['items.sku', 'items is a list: the path needs the index of an item, such as items[0].sku'],
    [
      'items[0].tags.x',
      'items[0].tags is a list: the path needs the index of an item, such as items[0].tags[0].x',
    ],
    ['items.length', 'items is a list, and has no length here: is_empty and is_not_empty ask for its items'],
    ['lead.name.first', 'lead.name is a text, and has nothing below it'],
    ['lead.name[0]', 'lead.name is a text, and has nothing below it'],
    ['items[0].sku', undefined],
    ['items[1].sku', undefined],
    ['items[0].price', undefined],
    ['lead.at.day', undefined],
    ['company.name', undefined],
    ['lead.tags[0].x', 'lead.tags[0] is a text, and has nothing below it'],
  ]
  for (const [field, note] of cases) t.equal(explain(field, 'equals', 'b', data).note, note, field)
  t.equal(explain('items.sku', 'not_equals', 'b', data).note, cases[0]?.[1], 'also where the clause holds')
  t.equal(explain('sku.x', 'equals', 'b', [1]).note, undefined, 'data of no event')
  const throwing = {
    get items(): never {
      throw new Error('read me not')
    },
  }
  t.equal(explain('items.sku', 'equals', 'b', throwing).note, undefined)
  const rendering = { warnings: [], size: 0 }
  const template = compileTemplate('Call {{items.sku}} {{lead.x}}')
  if (typeof template !== 'string') template.render(data, rendering)
  t.same(rendering.warnings, [`items.sku is missing, since ${cases[0]?.[1]}`, 'lead.x is missing'])
})

t.test('the nearest change has the unit of the event', async (t) => {
  const why = (condition: Condition, data: object) =>
    explainWhy({ conditions: [condition], actions: [] }, data, now).change
  const before: Condition = { field: 'at', operator: 'before', value: '2026-01-01' }
  t.same(why(before, { at: 1_767_312_000 }), [{ field: 'at', from: 1_767_312_000, to: 1_767_225_599.999 }])
  t.same(why(before, { at: 1_767_312_000_000 }), [
    { field: 'at', from: 1_767_312_000_000, to: 1_767_225_599_999 },
  ])
  const fresh: Condition = { field: 'at', operator: 'within_last', value: '1h' }
  t.match(why(fresh, { at: 0 }), [{ field: 'at', from: 0, to: Number }])
  t.match(why(fresh, { at: 'Tue, 10 Mar 2026 10:00:00 +0000' }), [{ to: '2026-03-10T11:00:00.000Z' }])
})
