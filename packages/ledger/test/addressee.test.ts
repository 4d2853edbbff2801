import { newId } from '@automation/database'
import t from 'tap'
import { addresseeOf } from '../src/addressee.js'

t.test('a row says who it is for', async (t) => {
  const id = newId()
  t.equal(addresseeOf({ ruleId: null, isDelivery: false }), null, 'all rules of its type')
  t.strictSame(addresseeOf({ ruleId: id, isDelivery: false }), { kind: 'rule', id })
  t.strictSame(addresseeOf({ ruleId: id, isDelivery: true }), { kind: 'subscription', id })
})
