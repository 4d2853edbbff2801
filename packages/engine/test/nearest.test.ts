import t from 'tap'
import { actionDefinitions, describeUnknownType, eventTypes } from '../src/index.js'
import { operators } from '../src/operators/index.js'
import { describeNearest, findNearest, findSimilar } from '../src/texts/nearest.js'

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
    ['templates', ['rules', 'emailTemplates'], 'emailTemplates'],
  ]
  for (const [word, names, meant] of cases) t.equal(findNearest(word, names)[0], meant, word)
})

t.test(
  'a message names at most three that are near, otherwise all of a few, and where all of many are',
  async (t) => {
    const list = '/docs/rules#clauses'
    const fields = ['mode', 'group', 'conditions']
    const cases: [
      word: string,
      names: readonly string[],
      list: string | undefined,
      said: string | undefined,
    ][] = [
      ['startswith', operatorNames, list, `Nearest: starts_with. All: ${list}`],
      ['modes', fields, undefined, 'Nearest: mode'],
      ['foo', operatorNames, list, `All: ${list}`],
      ['foo', fields, undefined, 'All: mode, group, conditions'],
      ['id', fields, undefined, 'All: mode, group, conditions'],
      ['foo', operatorNames, undefined, undefined],
      ['x', [], undefined, 'There are none here'],
    ]
    for (const [word, names, list, said] of cases) t.equal(describeNearest(word, names, list), said, word)
    t.strictSame(findNearest('LEAD', eventTypes).length, 3)
  },
)

t.test('of an unknown event type a message says what to do', async (t) => {
  t.equal(describeUnknownType('LEAD_CREATE'), 'Nearest: LEAD_CREATED')
  t.equal(describeUnknownType('PAYMENT_FAILD', ['PAYMENT_FAILED']), 'Nearest: PAYMENT_FAILED')
  t.equal(describeUnknownType('SCHEDULE'), 'Only the service makes events of this type')
  t.match(describeUnknownType('NOPE'), /^It is none of the catalogue .* create it first/)
})

t.test('a word is misspelt only if most of its letters are right', async (t) => {
  const fields = ['score', 'status', 'email']
  t.equal(findSimilar('scroe', fields), 'score')
  t.equal(findSimilar('E-mail', ['email']), 'email')
  t.equal(findSimilar('country', fields), undefined)
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
