import t from 'tap'
import { addField, replaceLimit as replace } from '../../../pages/logic/editing/add-field.js'
import type { PerKey } from '../../../pages/logic/editing/describe-per-key.js'

const replaceLimit = (before: object, next: object) => replace(before as PerKey, next as PerKey)
const wait = (config: Record<string, unknown>) => ({ type: 'WAIT', config })

t.test('a WAIT has one way to end: another one takes the place of the former', async (t) => {
  const decision = { options: [], within: '' }
  t.strictSame(addField(wait({ duration: '' }), 'decision', decision), { decision })
  t.strictSame(addField(wait({ duration: '3d', time: {} }), 'decision', decision), {
    decision: { options: [], within: '3d' },
  })
  t.strictSame(addField(wait({ decision: { ...decision, within: '24h' } }), 'duration', ''), {
    duration: '24h',
  })
  t.strictSame(addField(wait({ decision }), 'until', ''), { until: '' })
  t.strictSame(addField(wait({ duration: '1h', time: {} }), 'until', ''), { until: '', time: {} })
  t.strictSame(addField(wait({ until: '{{due}}', offset: '-1d' }), 'duration', ''), { duration: '' })
  t.strictSame(addField(wait({ duration: '1h' }), 'offset', '-3d'), { until: '', offset: '-3d' })
  t.strictSame(addField(wait({ until: '{{due}}' }), 'offset', '-3d'), { until: '{{due}}', offset: '-3d' })
  t.strictSame(addField(wait({ decision }), 'for', {}), { duration: '', for: {} })
  t.strictSame(addField(wait({ duration: '1h' }), 'for', {}), { duration: '1h', for: {} })
})

t.test('a field of another action stands beside all others', async (t) => {
  const task = { type: 'CREATE_TASK', config: { title: 'x' } }
  t.strictSame(addField(task, 'dueIn', ''), { title: 'x', dueIn: '' })
})

t.test('a limit that collects has no other part but its key, and the other way round', async (t) => {
  const atMost = { runs: 1, per: '7d' }
  t.strictSame(replaceLimit({ key: 'a', atMost }, { key: 'a', atMost, collect: {} }), {
    key: 'a',
    collect: {},
  })
  t.strictSame(replaceLimit({ key: 'a', collect: {} }, { key: 'a', collect: {}, atMost }), {
    key: 'a',
    atMost,
  })
  t.strictSame(replaceLimit({ collect: {} }, { collect: {}, key: '' }), { collect: {}, key: '' })
  t.strictSame(
    replaceLimit({ key: 'a', collect: {} }, { key: 'a', collect: {}, whileRunning: 'skip' }),
    { key: 'a', collect: {}, whileRunning: 'queue' },
    'what collects may queue',
  )
  t.strictSame(replaceLimit({ key: 'a', collect: {} }, { key: 'b', collect: {} }), { key: 'b', collect: {} })
})
