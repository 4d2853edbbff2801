import t from 'tap'
import { nameOption } from '../../pages/logic/name-option.js'

t.test('an option of a decision is read in words', async (t) => {
  t.equal(nameOption('approve'), 'approve')
  t.equal(nameOption('ask_again'), 'ask again')
  t.equal(nameOption('askAgain'), 'ask again')
})
