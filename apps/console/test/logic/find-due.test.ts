import t from 'tap'
import { findDue } from '../../pages/logic/find-due.js'

t.test('a task is due so long after the actions before it', async (t) => {
  const startedAt = '2026-11-27T09:00:00.000Z'
  t.equal(findDue({ dueIn: '24h' }, [], startedAt), '2026-11-28T09:00:00.000Z')
  const wait = { action: 'WAIT', status: 'success' as const, until: '2026-12-04T09:00:00.000Z' }
  t.equal(findDue({ dueIn: '30m' }, [wait], startedAt), '2026-12-04T09:30:00.000Z')
  t.equal(findDue({}, [wait], startedAt), undefined)
  t.equal(findDue(undefined, [], startedAt), undefined)
})
