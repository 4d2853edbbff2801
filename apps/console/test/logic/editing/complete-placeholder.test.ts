import t from 'tap'
import { findCompletion, takeCompletion } from '../../../pages/logic/editing/complete-placeholder.js'

/** `|` of the text is the caret. */
const find = (marked: string) => findCompletion(marked.replace('‸', ''), marked.indexOf('‸'))
const take = (marked: string, choice: string) => {
  const found = find(marked)
  if (found === undefined) return undefined
  const { text, caret } = takeCompletion(marked.replace('‸', ''), found, choice)
  return `${text.slice(0, caret)}‸${text.slice(caret)}`
}

t.test('after {{ a field is completed, and after a bar a filter', async (t) => {
  t.match(find('Call {{‸'), { of: 'field', typed: '' })
  t.match(find('Call {{ na‸'), { of: 'field', typed: 'na' })
  t.match(find('Call {{name | up‸}}'), { of: 'filter', typed: 'up' })
  t.match(find('{{a}} {{lead.t‸}}'), { of: 'field', typed: 'lead.t' })
})

t.test('elsewhere nothing is completed', async (t) => {
  for (const text of [
    '‸',
    'Call ‸',
    'Call {‸',
    '{{name}}‸',
    '{{name}} ‸',
    '\\{{na‸',
    '‸{{name}}',
    '{{a | default:"na‸',
  ])
    t.equal(find(text), undefined, text)
})

t.test('a choice replaces the word, closes the placeholder, and the caret stands behind it', async (t) => {
  t.equal(take('Call {{na‸', 'name'), 'Call {{name}}‸')
  t.equal(take('Call {{na‸ today', 'name'), 'Call {{name}}‸ today')
  t.equal(take('Call {{na‸me}} today', 'lead.name'), 'Call {{lead.name}}‸ today')
  t.equal(take('{{na‸ | upper}}', 'name'), '{{name‸ | upper}}')
  t.equal(take('{{name | up‸', 'upper'), '{{name | upper}}‸')
  t.equal(take('{{name | de‸', 'default:'), '{{name | default:‸}}', 'a filter with an argument waits for it')
})
