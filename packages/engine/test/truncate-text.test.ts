import fc from 'fast-check'
import t from 'tap'
import { truncateText } from '../src/texts/truncate-text.js'
import { planOne } from './fixtures/plan-one.js'

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })
const charactersOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment)
const truncate = (text: string, length: number) => truncateText(text, length, () => {})

t.test('a text is cut between characters as readers count them', async (t) => {
  const cases: [text: string, length: number, cut: string][] = [
    ['Call back', 8, 'Call ba…'],
    ['Call bac', 8, 'Call bac'],
    ['ab😀cd', 4, 'ab😀…'],
    ['👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 2, '👨‍👩‍👧‍👦…'],
    ['👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 2, '👨‍👩‍👧‍👦👨‍👩‍👧‍👦'],
    ['🇩🇪🇦🇹🇨🇭', 2, '🇩🇪…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['👍🏽👍🏽', 1, '…'],
    ['नमस्ते दुनिया', 3, 'नम…'],
    ['한국어입니다', 4, '한국어…'],
    ['\r\n\r\n\r\n', 2, '\r\n…'],
    ['abe\u0301', 3, 'abe\u0301'],
  ]
  for (const [text, length, cut] of cases) t.equal(truncate(text, length), cut, JSON.stringify(text))
  t.equal(planOne('CREATE_TASK', { title: '{{v | truncate:3}}' }, { v: '😀😀😀😀' }).config.title, '😀😀…')
})

t.test('any text is cut to its first characters', async () => {
  const character = fc.constantFrom(
    'a',
    'é',
    'e\u0301',
    '😀',
    '👍🏽',
    '👨‍👩‍👧',
    '🇩🇪',
    '漢',
    '\r',
    '\n',
    '\u0301',
    'क्ष',
  )
  fc.assert(
    fc.property(fc.array(character, { maxLength: 400 }), fc.integer({ min: 1, max: 300 }), (list, length) => {
      const text = list.join('')
      const all = charactersOf(text)
      const expected = all.length <= length ? text : `${all.slice(0, length - 1).join('')}…`
      return truncate(text, length) === expected
    }),
    { numRuns: 500 },
  )
})

t.test('a long text takes no longer than its beginning, and its work is charged', async (t) => {
  let units = 0
  const long = '漢'.repeat(1_000_000)
  t.equal(
    truncateText(long, 80, (more) => (units += more)),
    `${long.slice(0, 79)}…`,
  )
  t.ok(units > 1_000 && units < 50_000, `${units} units`)
  units = 0
  t.equal(truncateText('x'.repeat(1_000_000), 80, (more) => (units += more)).length, 80)
  t.equal(units, 0)
  const stacked = `a${'\u0301'.repeat(5_000)}bc`
  t.equal(truncate(stacked, 2), `${stacked.slice(0, -2)}…`, 'a character may have any length')
})
