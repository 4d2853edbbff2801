import fc from 'fast-check'
import t from 'tap'
import { countOf, formatCount } from '../../pages/logic/count-words.js'
import { formatRun } from '../../pages/logic/editing/format-run.js'
import {
  formatBoth,
  formatDay,
  formatDuration,
  formatStart,
  formatTime,
} from '../../pages/logic/format-time.js'
import { chooseLocale } from '../../pages/logic/locale.js'

const now = new Date('2026-11-23T22:00:00Z')
// Files of a room may share a process.
t.afterEach(() => chooseLocale(undefined))

function writeAll(): string[] {
  return [
    formatTime('2026-11-23T21:05:07Z', 'UTC', now),
    formatTime('2026-10-22T21:05:07Z', 'UTC', now),
    formatTime('2025-10-22T21:05:07Z', 'UTC', now),
    formatStart('2026-11-23T21:05:00Z', 'UTC', now),
    formatStart('2026-11-23T21:05:07Z', 'UTC', now),
    formatDay('2026-11-24T21:05:00Z', 'UTC', now),
    formatRun(new Date('2026-11-30T21:00:00Z'), 'Europe/Berlin'),
    formatCount(1_234_567.5),
    countOf(4_139, 'event'),
    formatDuration(3_200),
  ].map((text) => text.replace(/\s/g, ' '))
}

const usual = [
  '21:05:07',
  'Oct 22, 21:05',
  'Oct 22, 2025, 21:05',
  '21:05',
  '21:05:07',
  'tomorrow 21:05',
  'Mon, Nov 30, 22:00',
  '1,234,567.5',
  '4,139 events',
  '3.2 s',
]

t.test('dates, times and numbers are those of the chosen locale, and words stay English', async (t) => {
  t.strictSame(writeAll(), usual)
  chooseLocale('de-DE')
  t.strictSame(writeAll(), [
    '21:05:07',
    '22. Okt., 21:05',
    '22. Okt. 2025, 21:05',
    '21:05',
    '21:05:07',
    'tomorrow 21:05',
    'Mo., 30. Nov., 22:00',
    '1.234.567,5',
    '4.139 events',
    '3,2 s',
  ])
  chooseLocale('en-US')
  t.strictSame(writeAll(), [
    '9:05:07 PM',
    'Oct 22, 9:05 PM',
    'Oct 22, 2025, 9:05 PM',
    '9:05 PM',
    '9:05:07 PM',
    'tomorrow 9:05 PM',
    'Mon, Nov 30, 10:00 PM',
    '1,234,567.5',
    '4,139 events',
    '3.2 s',
  ])
  t.match(formatBoth('2026-11-23T21:05:07Z'), /Nov 2\d, 2026, .*\n2026-11-23T21:05:07Z$/)
})

t.test('a tag that is wrong or unknown counts as none', async (t) => {
  for (const tag of ['xx', 'xx-YY', 'a', 'de-', 'de_DE', 'abcdefgh-1', 'de-a', 'toString', '']) {
    chooseLocale(tag)
    t.strictSame(writeAll(), usual, tag)
  }
  // All that the API lets pass.
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, { maxLength: 35 }), (tag) => {
      chooseLocale(tag)
      return writeAll().every((text) => text !== '')
    }),
  )
})
