import t from 'tap'
import { findRuleWarnings } from '../src/rule-warnings.js'

function warn(title: string) {
  const actions = [{ type: 'CREATE_TASK' as const, config: { title } }]
  return findRuleWarnings({ trigger: 'WEBHOOK_RECEIVED', conditions: [], actions }).map(
    ({ field, message }) => `${field} ${message}`,
  )
}

t.test('a default without quotes is a field, and a single word is warned of', async (t) => {
  t.match(warn('{{payload | default:friend}}'), [
    'actions[0].config.title default:friend reads the field friend: a text needs quotes, default:"friend"',
  ])
  t.match(warn('Dear {{payload | upper | default:Dear Sir}}'), [/default:Dear Sir reads the field/])
  for (const argument of [
    '"friend"',
    "'friend'",
    '0',
    '-1.5',
    'true',
    'null',
    'payload.name',
    'payload.list[0]',
  ])
    t.strictSame(warn(`{{payload.nick | default:${argument}}}`), [], argument)
})

t.test('words of blocks are warned of', async (t) => {
  for (const word of ['else', 'else if payload', 'this', 'this.name', 'endif', 'elsif'])
    t.match(
      warn(`a {{${word}}} b`),
      [`actions[0].config.title {{${word}}} reads a field of the event with this name: there are no blocks`],
      word,
    )
  for (const word of ['payload.else', 'payload.this', 'thisYear', 'elsewhere'])
    t.notMatch(warn(`{{${word}}}`), [/blocks/], word)
})
