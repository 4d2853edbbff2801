import fc from 'fast-check'
import t from 'tap'
import { compileRule } from '../src/planning/compile-rule.js'
import { planRule } from '../src/planning/run.js'
import { writeChatBody } from '../src/templates/chat-format.js'
import { draws } from './fixtures/draws.js'
import { faultsOf, planOne } from './fixtures/plan-one.js'

const url = 'https://chat.example.com/hooks/1'
const space = '\u200b'

function write(format: string | undefined, text: string, data: unknown) {
  const planned = planOne('SEND_NOTIFICATION', { url, text, ...(format && { format }) }, data)
  if (planned.fault) throw new Error(planned.fault)
  return String(planned.config.text)
}

t.test('what a placeholder writes for Slack is text', async (t) => {
  const cases: [name: string, written: string][] = [
    ['<!channel>', '&lt;!channel&gt;'],
    ['<@U024BE7LH>', '&lt;@U024BE7LH&gt;'],
    ['<https://evil.example|Reset your password>', '&lt;https://evil.example|Reset your password&gt;'],
    ['Tom & Co', 'Tom &amp; Co'],
    ['&lt;!channel&gt;', '&amp;lt;!channel&amp;gt;'],
    ['Ann* is *free', 'Ann∗ is ∗free'],
    ['_a_ and ~b~ and `c`', 'ˍaˍ and ∼b∼ and ˋcˋ'],
    ['ORDER_2024_07 a~b', 'ORDER_2024_07 a~b'],
    [':wave: :+1::skin-tone-2:', '꞉wave: ꞉+1:꞉skin-tone-2:'],
    [
      '10:30:45, 2026-11-27T10:30:00+01:00, https://x.io:8080/a',
      '10:30:45, 2026-11-27T10:30:00+01:00, https://x.io:8080/a',
    ],
    ['@channel, ada@example.com', `@${space}channel, ada@example.com`],
    ['@all, @All and @everyone', `@${space}all, @${space}All and @${space}everyone`],
    ['x_@here', `xˍ@${space}here`],
    ['[Reset](https://evil.example)', `[Reset]${space}(https://evil.example)`],
    ['a > b\n> c\nd', `a &gt; b\n${space}&gt; c\nd`],
    ['Ada 👋\nÜ', 'Ada 👋\nÜ'],
  ]
  for (const [name, written] of cases) {
    t.equal(write(undefined, 'New: {{name}}!', { name }), `New: ${written}!`)
    t.equal(write('slack', '{{name}}', { name }), written)
    t.equal(write('slack', '*{{no | default:name}}*', { name }), `*${written}*`)
  }
})

t.test('filters, defaults and JSON are escaped once, like values', async (t) => {
  const data = { name: ' <!HERE> & co ', list: ['<!here>'] }
  t.equal(write('slack', '{{name | trim | lower}}', data), '&lt;!here&gt; &amp; co')
  t.equal(write('slack', '{{no | default:"<!here>"}}', data), '&lt;!here&gt;')
  t.equal(write('slack', '{{list | json}} {{list}}', data), '["&lt;!here&gt;"] ["&lt;!here&gt;"]')
  t.equal(write('slack', '{{name | trim | truncate:8}}', data), '&lt;!HERE&gt;…')
})

t.test("the author's own markup works in each format", async (t) => {
  const text = 'Hi *{{n}}* _x_ <!here> <https://x.io|x> &amp; :tada: @everyone [a](b) \\{{n}}\n> q'
  for (const format of [undefined, 'slack', 'discord', 'teams', 'text'])
    t.equal(write(format, text, { n: 7 }), text.replace('{{n}}', '7').replace('\\{{', '{{'))
})

t.test('what a placeholder writes for Discord and Teams is text', async (t) => {
  const both: [name: string, written: string][] = [
    ['*a* _b_ ~c~ `d` ||e||', '\\*a\\* \\_b\\_ \\~c\\~ \\`d\\` \\|\\|e\\|\\|'],
    ['[Reset](https://evil.example)', '\\[Reset\\]\\(https://evil.example\\)'],
    ['<b>\n> q\n# h\n- i\n1. j', '\\<b\\>\n\\> q\n\\# h\n\\- i\n1\\. j'],
    ['Tom & Co, +49 30 1-2, 1.5 #7', 'Tom & Co, +49 30 1-2, 1.5 #7'],
    ['a\\*b', 'a\\\\\\*b'],
  ]
  for (const format of ['discord', 'teams'])
    for (const [name, written] of both) t.equal(write(format, '{{name}}', { name }), written, format)
  t.equal(
    write('discord', '{{name}}', { name: '@everyone <@&17> :wave:' }),
    `@${space}everyone \\<@${space}&17\\> \\:wave:`,
  )
  t.equal(write('teams', '{{name}}', { name: '{{DATE(0)}} &lt;' }), '\\{\\{DATE\\(0\\)\\}\\} \\&lt;')
  t.equal(write('text', '{{name}}', { name: '<!channel> *a* & @everyone' }), '<!channel> *a* & @everyone')
})

t.test('no data mentions anybody on Discord, and the author may', async (t) => {
  const mentions = (text: string, data: object) =>
    (writeChatBody({ text: write('discord', text, data), format: 'discord' }) as { allowed_mentions: object })
      .allowed_mentions
  const nobody = { parse: [], users: [], roles: [] }
  const name = '@everyone @here <@1> <@!2> <@&3>'
  t.strictSame(mentions('{{name}}', { name }), nobody)
  t.strictSame(mentions('@{{a}} @{{b}}', { a: 'everyone', b: 'hereafter' }), nobody)
  t.strictSame(mentions('{{a}}<@4> \\<@5>', { a: 'x\\' }), { ...nobody, users: ['4'] })
  t.strictSame(mentions('{{a}}{{b}}', { a: '@every', b: 'one' }), nobody)
  t.strictSame(mentions('{{a}}{{b}}', { a: '<', b: '@1>' }), nobody)
  t.strictSame(mentions('@here <@4> <@!5> <@&6> <@{{id}}> {{name}}', { name, id: 7 }), {
    parse: ['everyone'],
    users: ['4', '5', '7'],
    roles: ['6'],
  })
  t.strictSame(mentions('{{name | raw}}', { name }), { parse: ['everyone'], users: ['1', '2'], roles: ['3'] })
})

t.test('raw writes the markup of a value, as the last filter of a chat text', async (t) => {
  const data = { name: '<!here> & *x*', at: 0 }
  for (const format of [undefined, 'slack', 'discord', 'teams', 'text']) {
    t.equal(write(format, '{{name | raw}}', data), data.name)
    t.equal(write(format, 'a {{name | upper | raw}}', data), 'a <!HERE> & *X*')
  }
  t.equal(write('slack', '{{name | raw}} {{name}}', data), '<!here> & *x* &lt;!here&gt; &amp; ∗x∗')
  for (const text of ['{{a | raw | upper}}', '{{a | raw | raw}}', '{{a | raw:1}}'])
    t.match(
      faultsOf('SEND_NOTIFICATION', { url, text }),
      [/^actions\[0\]\.config\.text Has a filter raw/],
      text,
    )
  t.match(faultsOf('SEND_NOTIFICATION', { url: `${url}/{{a | raw}}`, text: 'x' }), [
    /config\.url Has a filter raw/,
  ])
  t.match(faultsOf('SEND_WEBHOOK', { url, body: { text: '{{a | raw}}' } }), [
    /config\.body\.text Has a filter raw/,
  ])
  t.match(faultsOf('CREATE_TASK', { title: '{{a | raw}}' }), [/config\.title Has a filter raw/])
})

t.test('a link and an email address of a value stay as they are', async (t) => {
  const links = [
    'https://crm.example.com/a_b_c/IMG_1000.png?utm_source=x',
    'https://example.com/_layouts/15/start.aspx',
    'https://example.com/~ada/__init__.py',
    'HTTP://example.com:8080/urn:isbn:123',
  ]
  const addresses = ['ada@163.example', 'ada@1und1.example', 'ada@allianz.example']
  for (const format of ['slack', 'discord', 'text'])
    for (const text of [...links, ...addresses])
      for (const name of [text, `See ${text} now`, `${text}\n${text}`])
        t.equal(write(format, '*{{name}}*', { name }), `*${name}*`, format)
  t.equal(
    write('slack', '{{name}}', { name: 'https://x.io/?a=1&b=_2 _a_' }),
    'https://x.io/?a=1&amp;b=_2 ˍaˍ',
  )
  t.equal(
    write('slack', '{{name}}', { name: 'https://x.io/_a*b*<!here>' }),
    'https://x.io/_a∗b∗&lt;!here&gt;',
  )
  t.equal(
    write('discord', '{{name}}', { name: '[https://x.io/_](https://x.io/__) _a_ https://x.io/_`' }),
    '\\[https://x.io/_\\]\\(https://x.io/__\\) \\_a\\_ https://x.io/_\\`',
  )
  t.equal(write('slack', '{{name}}', { name: 'ada@hereford.example' }), 'ada@hereford.example')
})

t.test('a value in a link of the rule leads where the rule means it', async (t) => {
  const ids: [id: string, written: string][] = [
    ['lead_7', 'lead_7'],
    ['_7~_', '_7~_'],
    ['a:b:c', 'a:b:c'],
    ['x*y|(z) [1]', 'x%2Ay%7C%28z%29%20%5B1%5D'],
    ['a\\b`<c>', 'a%5Cb%60%3Cc%3E'],
    ['é', 'é'],
  ]
  const texts = [
    '*New*: https://crm.example.com/leads/{{id}} !',
    '[open](https://crm.example.com/leads/{{id}}) now',
    '[open]({{base}}/leads/{{id}}?x=_a_)',
    'https://{{host}}/{{id}}/{{id}}',
  ]
  const data = { base: 'https://crm.example.com', host: 'crm.example.com' }
  for (const [id, written] of ids)
    for (const text of texts) {
      const expected = text
        .replaceAll('{{id}}', written)
        .replace('{{base}}', data.base)
        .replace('{{host}}', data.host)
      for (const format of ['slack', 'discord'])
        t.equal(write(format, text, { ...data, id }), expected, `${format} ${text} ${id}`)
      const teams = write('teams', text, { ...data, id })
      t.equal(decodeURIComponent(teams), decodeURIComponent(expected))
      t.notMatch(teams.replace('?x=_a_', ''), /[\\_~]/)
    }
  t.equal(write('slack', '<{{base}}/{{id}}|{{id}}>', { ...data, id: '_7>' }), `<${data.base}/_7%3E|ˍ7&gt;>`)
  t.equal(write('slack', 'https://x.io/?a={{id}}', { id: 'b&c' }), 'https://x.io/?a=b&amp;c')
  t.equal(write('discord', 'https://x.io/ {{id}}', { id: '_7_' }), 'https://x.io/ \\_7\\_')
  t.equal(write('discord', 'https://x.io/@{{id}}', { id: 'everyone' }), 'https://x.io/@%65veryone')
  t.equal(write('discord', 'https://x.io/{{id}}', { id: '@everyone' }), 'https://x.io/%40everyone')
})

t.test('the address of a link of the rule in Slack mentions nobody', async (t) => {
  for (const [value, written] of [
    ['!channel', '%21channel'],
    ['@U024BE7LH', '%40U024BE7LH'],
    ['#C123', '%23C123'],
    ['!subteam^S12', '%21subteam^S12'],
    ['!here|now', '%21here%7Cnow'],
    ['https://x.io/#!a', 'https://x.io/#!a'],
  ]) {
    t.equal(write('slack', '<{{link}}|Open>', { link: value }), `<${written}|Open>`)
    t.equal(write('slack', 'See\n<{{no}}{{link}}>', { link: value }), `See\n<${written}>`)
  }
  t.equal(write('slack', '<@{{id}}> <!subteam^{{id}}>', { id: 'U1' }), '<@U1> <!subteam^U1>')
  t.equal(write('slack', '<mailto:{{to}}|Mail>', { to: 'ada_b@x.io' }), '<mailto:ada_b@x.io|Mail>')
})

t.test('two values side by side complete no mention, and other values get no invisible space', async (t) => {
  for (const format of ['slack', 'discord']) {
    t.equal(write(format, '@{{a}}{{b}}', { a: 'every', b: 'one' }), `@${space}everyone`)
    t.equal(write(format, '@{{a}}one', { a: 'Every' }), `@${space}Everyone`)
    t.equal(write(format, '{{a | raw}}{{b}}', { a: '@', b: 'here' }), `@${space}here`)
    t.ok(write(format, '@{{a}}', { a: 'channel_' }).startsWith(`@${space}channel`))
    for (const text of ['@{{name}}', '@{{name}} now', '{{name}}', 'x{{name}}'])
      for (const name of ['al', 'Eve', 'Ann'])
        t.equal(write(format, text, { name }), text.replace('{{name}}', name))
    for (const name of ['Hereford', 'All paid', 'everyone'])
      t.equal(write(format, 'For: {{name}}', { name }), `For: ${name}`)
  }
})

t.test('escaping is charged, not done for what is too long, and quick for each text', async (t) => {
  const text = '{{a}}'.repeat(50)
  const [planned] = planRule(
    compileRule({ conditions: [], actions: [{ type: 'SEND_NOTIFICATION', config: { url, text } }] }),
    { a: '*'.repeat(9_999) },
    0,
  ).actions
  t.match((planned as { fault?: string }).fault, /cost units per event/)
  const long = planOne('SEND_NOTIFICATION', { url, text: '{{a}}' }, { a: '*'.repeat(10_001) })
  t.match(long.fault, /^config\.text must/)
  const start = process.cpuUsage()
  writeChatBody({ text: '\\'.repeat(10_000), format: 'discord' })
  const { user } = process.cpuUsage(start)
  t.ok(user < 100_000, `${user} µs`)
})

t.test('each format has the body that its chat takes', async (t) => {
  const text = 'Hi'
  t.strictSame(writeChatBody({ text }), { text })
  t.strictSame(writeChatBody({ text, format: 'slack' }), { text })
  t.strictSame(writeChatBody({ text, format: 'text' }), { text })
  t.match(writeChatBody({ text, format: 'discord' }), {
    content: text,
    allowed_mentions: { parse: { length: 0 } },
  })
  t.match(writeChatBody({ text, format: 'teams' }), {
    type: 'message',
    attachments: [{ content: { type: 'AdaptiveCard', body: [{ type: 'TextBlock', text }] } }],
  })
})

t.test('no value has markup of Slack or Markdown left', async () => {
  const sign = fc.constantFrom(...'<>&*_~`:@|[](){}#-+!\\\n 1.a'.split(''), 'everyone', 'wave')
  const value = fc.array(sign, { maxLength: 12 }).map((signs) => signs.join(''))
  fc.assert(
    fc.property(value, (name) => {
      const slack = write('slack', '{{name}}', { name: `x${name}` })
      const discord = write('discord', '{{name}}', { name: `x${name}` })
      return (
        !/[<>*`]|&(?!(?:amp|lt|gt);)|:wave:|(?<!\w)@everyone|\]\(/.test(slack) &&
        !/(?:^|[^\\])(?:\\\\)*[*_~`<>|[\]()]/.test(discord) &&
        !discord.includes('@everyone')
      )
    }),
    { numRuns: draws(3_000) },
  )
})
