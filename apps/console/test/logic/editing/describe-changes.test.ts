import t from 'tap'
import { diffLines } from '../../../pages/logic/diff-lines.js'
import { nameType, wordsOf } from '../../../pages/logic/editing/action-words.js'
import { describeChanges } from '../../../pages/logic/editing/describe-changes.js'
import { foldLines } from '../../../pages/logic/editing/fold-lines.js'

const clause = (field: string, value: unknown) => ({ field, operator: 'greater_than', value })
const define = (changes: object = {}) =>
  ({
    name: 'Hot',
    description: '',
    trigger: 'LEAD_CREATED',
    conditions: [clause('score', 80), clause('amount', 5)],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
    ...changes,
  }) as never as Parameters<typeof describeChanges>[0]

t.test('a change of a rule is told in words', async (t) => {
  const tell = (changes: object) => describeChanges(define(), define(changes))
  t.strictSame(tell({}), [])
  t.strictSame(tell({ name: 'Hotter' }), ['Name: "Hot" → "Hotter".'])
  t.strictSame(tell({ description: 'x' }), ['Description is "x" now.'])
  t.strictSame(tell({ trigger: 'DEAL_WON' }), ['Event: lead created → deal won.'])
  t.strictSame(
    tell({ perKey: { key: '{{lead.id}}', atMost: { runs: 1, per: '7d' }, whileRunning: 'queue' } }),
    ['Limit is at most 1 execution per 7d, one after another for each {{lead.id}} now.'],
  )
  t.strictSame(tell({ trigger: 'SCHEDULE', schedule: { cron: '0 9 * * 1-5', timezone: 'UTC' } }), [
    'Event: lead created → on a schedule.',
    'Schedule is every weekday at 09:00, UTC now.',
  ])
  t.strictSame(tell({ conditions: [clause('score', 90), clause('amount', 5)] }), [
    'Condition 1: score is above 80 → score is above 90.',
  ])
  t.strictSame(tell({ conditions: [clause('amount', 5), { any: [clause('a', 1), clause('b', 2)] }] }), [
    'Condition 1 was removed: score is above 80.',
    'Condition added: a is above 1 or b is above 2.',
  ])
  t.strictSame(
    tell({
      actions: [
        { type: 'CREATE_TASK', config: { title: 'Ring {{name}}', dueIn: '1d' }, when: clause('score', 9) },
        { type: 'WAIT', config: { duration: '1h' } },
      ],
    }),
    [
      'Action 1: create a task, title "Call {{name}}" → "Ring {{name}}", due in "1d", when score is above 9.',
      'Action added: wait "1h".',
    ],
  )
  t.strictSame(
    tell({
      conditions: [...define().conditions, { some: 'items', that: [clause('qty', { root: 'limit' })] }],
    }),
    ['Condition added: at least one of items with qty is above limit.'],
  )
  t.strictSame(tell({ conditions: [...define().conditions, { sometime: 'x' }] }), [
    'Condition added: {"sometime":"x"}.',
  ])
})

t.test('a type without words of its own is called by its name', async (t) => {
  t.match(wordsOf('ARCHIVE_LEAD'), { verb: 'archive lead', fields: {} })
  t.equal(nameType('LEAD_CREATED'), 'lead created')
  t.equal(nameType('shop.orderPaid'), 'shop.orderPaid')
})

t.test('unchanged lines are folded, except those around a change', async (t) => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index}`)
  const after = before.with(10, 'changed')
  const folds = foldLines(diffLines(before.join('\n'), after.join('\n')))
  t.strictSame(
    folds.map(({ isFolded, lines }) => [isFolded, lines.length]),
    [
      [true, 7],
      [false, 8],
      [true, 6],
    ],
  )
  t.equal(folds.flatMap(({ lines }) => lines).length, 21, 'no line is lost')
})
