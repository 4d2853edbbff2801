import t from 'tap'
import { findRuleWarnings } from '../src/warnings/rule-warnings.js'

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

function warnOf(part: Partial<Parameters<typeof findRuleWarnings>[0]>) {
  return findRuleWarnings({ trigger: 'WEBHOOK_RECEIVED', conditions: [], actions: [], ...part }).map(
    ({ field, message }) => `${field} ${message}`,
  )
}

t.test('a pattern between slashes, and a search for an empty text, are warned of', async (t) => {
  const warnOfClause = (operator: string, value: unknown) =>
    warnOf({ conditions: [{ not: { field: 'payload', operator, value } }] })
  const slashes = 'conditions[0].not.value The slashes are part of the pattern. Did you mean'
  t.strictSame(warnOfClause('matches', '/acme/i'), [`${slashes} (?i)acme?`])
  t.strictSame(warnOfClause('not_matches', '/a\nb/gms'), [`${slashes} (?ms)a\nb?`])
  t.strictSame(warnOfClause('matches', '/^acme$/'), [`${slashes} ^acme$?`])
  for (const value of ['/users/', '/', '//', 'a/i', '^/a/i', '/users/me'])
    t.strictSame(warnOfClause('matches', value), [], value)
  t.strictSame(warnOfClause('equals', '/a/i'), [])
  for (const [operator, value] of [
    ['contains', ''],
    ['not_contains', ''],
    ['contains_any', ['x', '']],
  ] as const)
    t.match(warnOfClause(operator, value), [/^conditions\[0\]\.not\.value Every text contains ""/], operator)
  for (const value of [' ', 0, false, null]) t.strictSame(warnOfClause('contains', value), [])
  t.strictSame(warnOfClause('contains_all', ['']), [])
})

t.test('JSON as a text, and placeholders in names, are warned of', async (t) => {
  const url = 'https://example.com/'
  const warnOfHook = (config: object) =>
    warnOf({ actions: [{ type: 'SEND_WEBHOOK', config: { url, ...config } } as never] })
  for (const body of ['{"text":"{{payload}}"}', ' [1]\n'])
    t.match(warnOfHook({ body }), [/^actions\[0\]\.config\.body This text is sent in quotes/], body)
  for (const body of ['{{payload}}', '{{payload}} {{payload}}', '[x] is new', { text: '{}' }, 'a=1'])
    t.strictSame(warnOfHook({ body }), [])
  t.strictSame(warnOfHook({ body: '{}', headers: { 'Content-Type': 'text/plain' } }), [])
  t.match(warnOfHook({ body: [{ '{{payload}}': 1 }, { a: { 'x {{payload}}': 1 } }] }), [
    /^actions\[0\]\.config\.body\[0\] \{\{payload\}\} is the name of a field and is sent as it is/,
    /^actions\[0\]\.config\.body\[1\]\.a x \{\{payload\}\} is the name/,
  ])
})

t.test('words of blocks are warned of', async (t) => {
  for (const word of ['else', 'else if payload', 'endif', 'elsif'])
    t.match(
      warn(`a {{${word}}} b`),
      [
        `actions[0].config.title {{${word}}} reads a field of the event with this name: blocks are not supported`,
      ],
      word,
    )
  // JSON-LD has such names.
  t.match(warn('{{@type}}'), [
    'actions[0].config.title {{@type}} reads a field of the event with this name: @ has',
  ])
  for (const word of ['payload.else', 'payload.this', 'thisYear', 'elsewhere'])
    t.notMatch(warn(`{{${word}}}`), [/blocks/], word)
})

t.test('a warning tells what can be foreseen to fail', async (t) => {
  const task = (title: string) => ({ type: 'CREATE_TASK', config: { title } }) as const
  const when = (field: string, value: string) => ({ field, operator: 'equals', value })
  const decision = { options: ['approve', 'reject'], within: '1h' }
  const actions = [
    { ...task('x'), name: 'a' },
    {
      ...task('x'),
      when: { all: [when('actions.a.outcome', 'sucess'), when('actions.a.outcome', 'failed')] },
    },
    { type: 'WAIT', config: { decision } },
    { ...task('x'), when: when('decision.choice', 'aprove') },
    { ...task('x'), when: when('decision.choice', 'expired') },
    task('{{payload}}'),
    task('{{payload | json}} {{payload}}'),
  ]
  t.strictSame(warnOf({ actions: actions as never }), [
    'actions[1].when.all[0].value actions.a.outcome is never "sucess", but one of success, failed, skipped, unknown',
    'actions[3].when.value decision.choice is never "aprove", but one of approve, reject, expired',
    'actions[5].config.title {{payload}} is an object, and this field takes a text: use {{payload | json}}, or a part of it',
  ])
  const collecting = {
    perKey: { collect: { for: '1h' } } as never,
    actions: [task('{{collected.events}}')] as never,
  }
  t.ok(warnOf(collecting).some((text) => text.includes('title {{collected.events}} is a list')))
})
