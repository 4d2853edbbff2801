import t from 'tap'
import { actionDefinitions, eventTypes } from '../src/index.js'
import { describeNearest, findMisspelt, findNearest } from '../src/nearest.js'
import { operators } from '../src/operators/index.js'

const operatorNames = operators.map(({ name }) => name)
const actionTypes = actionDefinitions.map(({ type }) => type)

t.test('the name that was meant comes first', async (t) => {
  const cases: [word: string, names: readonly string[], meant: string][] = [
    ['greaterThan', operatorNames, 'greater_than'],
    ['bigger_than', operatorNames, 'greater_than'],
    ['>=', operatorNames, 'greater_than_or_equal'],
    ['equal', operatorNames, 'equals'],
    ['startswith', operatorNames, 'starts_with'],
    ['cotnains', operatorNames, 'contains'],
    ['regex', operatorNames, 'matches'],
    ['SEND_MAIL', actionTypes, 'SEND_EMAIL'],
    ['create_task', actionTypes, 'CREATE_TASK'],
    ['SLACK', actionTypes, 'SEND_NOTIFICATION'],
    ['lead.created', eventTypes, 'LEAD_CREATED'],
    ['LEAD_CREATE', eventTypes, 'LEAD_CREATED'],
    ['DEAL_CLOSED', eventTypes, 'DEAL_LOST'],
  ]
  for (const [word, names, meant] of cases) t.equal(findNearest(word, names)[0], meant, word)
})

t.test('a message names three, and where all of them are', async (t) => {
  t.equal(
    describeNearest('LEAD_CREATE', eventTypes, '/docs/rules#events'),
    'Nearest: LEAD_CREATED, DEAL_CREATED, LEAD_UPDATED. All: /docs/rules#events',
  )
  t.equal(describeNearest('x', []), 'There are none here')
})

t.test('a word is misspelt only if most of its letters are right', async (t) => {
  const fields = ['score', 'status', 'email']
  t.equal(findMisspelt('scroe', fields), 'score')
  t.equal(findMisspelt('E-mail', ['email']), 'email')
  t.equal(findMisspelt('country', fields), undefined)
})

t.test('a word of a million letters costs no more than a hundred of a thousand letters', async (t) => {
  const shortestMs = (word: string) => {
    const times = Array.from({ length: 20 }, () => {
      const startedAt = performance.now()
      for (let n = 0; n < 10; n++) findNearest(word, eventTypes)
      return performance.now() - startedAt
    })
    return Math.min(...times)
  }
  const word = 'x'.repeat(1_000)
  t.ok(shortestMs('x'.repeat(1_000_000)) < 100 * shortestMs(word))
})
