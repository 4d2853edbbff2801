import fc from 'fast-check'
import t from 'tap'
import {
  beginHours,
  describeHours,
  isHours,
  readDayNames,
  writeDayNames,
} from '../../../pages/logic/editing/hours.js'

t.test('days of hours are written as they were read', async (t) => {
  for (const [text, days] of [
    ['mon-fri', [1, 2, 3, 4, 5]],
    ['sat,sun', [6, 0]],
    ['fri-mon', [5, 6, 0, 1]],
  ] as const)
    t.strictSame(readDayNames(text), days)
  for (const text of ['', 'monday', 'mon-', 'mon-tue-wed', 'mon, tue'])
    t.equal(readDayNames(text), undefined, text)
  const day = fc.integer({ min: 0, max: 6 })
  fc.assert(
    fc.property(fc.uniqueArray(day, { minLength: 1 }), (days) => {
      t.strictSame(readDayNames(writeDayNames(days))?.sort(), days.toSorted())
    }),
  )
})

t.test('hours are told in words, and what is more than hours is none', async (t) => {
  const hours = beginHours('Europe/Berlin')
  t.equal(describeHours(hours), 'it is every weekday, 09:00 to 17:00, in Europe/Berlin')
  t.ok(isHours(hours))
  t.notOk(isHours({ ...hours, more: 1 }))
  t.notOk(isHours({ ...hours, days: 'today' }))
})
