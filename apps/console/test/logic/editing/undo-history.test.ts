import t from 'tap'
import { findChangedPath } from '../../../pages/logic/editing/find-changed-path.js'
import { UndoHistory } from '../../../pages/logic/editing/undo-history.js'

t.test('what is typed into one field is undone as a whole, and each other change by itself', async (t) => {
  const history = new UndoHistory<object>()
  const states = [
    { name: '', conditions: [] },
    { name: 'H', conditions: [] },
    { name: 'Ho', conditions: [] },
    { name: 'Ho', conditions: [{ field: 'a' }] },
    { name: 'Ho', conditions: [] },
  ]
  const at = (index: number) => states[index] as object
  for (let index = 1; index < states.length; index++) history.note(at(index - 1), at(index), 100 * index)
  t.equal(history.undo(at(4)), at(3), 'what was removed is back')
  t.equal(history.undo(at(3)), at(2))
  t.equal(history.undo(at(2)), at(0), 'the typed word')
  t.equal(history.undo(at(0)), undefined)
  t.equal(history.redo(at(0)), at(2))
  t.equal(history.redo(at(2)), at(3))
  history.note(at(3), at(4), 9_000)
  t.equal(history.redo(at(4)), undefined, 'after another change there is nothing to redo')
})

t.test('after a pause, and after an undo, the same field begins another step', async (t) => {
  const history = new UndoHistory<object>()
  history.note({ name: '' }, { name: 'a' }, 0)
  history.note({ name: 'a' }, { name: 'ab' }, 5_000)
  t.strictSame(history.undo({ name: 'ab' }), { name: 'a' })
  history.note({ name: 'a' }, { name: 'ac' }, 5_001)
  t.strictSame(history.undo({ name: 'ac' }), { name: 'a' })
  t.strictSame(history.undo({ name: 'a' }), { name: '' })
})

t.test('the place of a change is its one leaf, or the list whose items came or went', async (t) => {
  const before = { name: 'a', actions: [{ config: { title: 'x' } }] }
  t.equal(
    findChangedPath(before, { ...before, actions: [{ config: { title: 'y' } }] }),
    'actions[0].config.title',
  )
  t.equal(findChangedPath(before, { ...before, actions: [] }), 'actions')
  t.equal(findChangedPath(before, { name: 'b', actions: [] }), '')
  t.equal(findChangedPath(before, structuredClone(before)), undefined)
})
