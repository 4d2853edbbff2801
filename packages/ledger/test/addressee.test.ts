import { newId } from '@automation/database'
import t from 'tap'
import { addresseeOf } from '../src/addressee.js'

t.test('a row says who it is for', async (t) => {
  const id = newId()
  t.equal(addresseeOf({ addresseeKind: null, addresseeId: null }), null, 'all rules of its type')
  for (const kind of ['rule', 'tick', 'subscription'] as const)
    t.strictSame(addresseeOf({ addresseeKind: kind, addresseeId: id }), { kind, id })
})
