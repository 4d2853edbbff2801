import t from 'tap'
import {
  compileMailTemplate,
  findMailTemplateFaults,
  type MailTexts,
} from '../src/templates/mail-template.js'
import { listPlaceholderUses } from '../src/templates/template.js'
import { maxRenderedLength } from '../src/values/to-text.js'
import { Evaluation } from '../src/work/evaluation.js'
import { faultsOf, planOne } from './fixtures/plan-one.js'

function mail(text: string, data: object, variables: object = {}) {
  const texts: MailTexts = { text, html: text }
  const rendered = compileMailTemplate(texts).render(data, variables, new Evaluation(0))
  if ('fault' in rendered) throw new Error(rendered.fault)
  return rendered
}

const order = {
  id: 'o-1',
  currency: 'EUR',
  item: 'a field of the event',
  lines: [
    { sku: 'A', qty: 2, price: 9.99 },
    { sku: '<B>', qty: 1, price: 5, currency: 'USD' },
  ],
}

t.test('a tag alone on its line leaves no empty line, as in Mustache', async (t) => {
  const data = { l: ['A', 'B'], m: ['C'], none: [] }
  const cases: [text: string, rendered: string][] = [
    ['Hi\n{{#each l}}\n- {{item}}\n{{/each}}\nBye', 'Hi\n- A\n- B\nBye'],
    ['Hi\r\n  {{#each l}}  \r\n- {{item}}\r\n\t{{/each}}\r\nBye', 'Hi\r\n- A\r\n- B\r\nBye'],
    ['{{#each l}}\n{{item}}\n{{/each}}', 'A\nB\n'],
    ['{{#each l}}\n\n{{item}}\n{{/each}}\n\nx', '\nA\n\nB\n\nx'],
    ['{{#each l}}\n{{item}}\n{{/each}}\n{{#each m}}\n{{item}}\n{{/each}}', 'A\nB\nC\n'],
    ['a {{#each l}}\n{{item}}{{/each}} \nb', 'a \nA\nB \nb'],
    ['{{#each l}}{{item}}\n{{/each}}b', 'A\nB\nb'],
    ['{{#each l}}\n{{item}} {{/each}}\nb', 'A B \nb'],
    ['\n{{#each none}}\nx\n{{/each}}\ny', '\ny'],
  ]
  for (const [text, rendered] of cases) t.equal(mail(text, data).text, rendered, text)
  const html = '<ul>\n  {{#each l}}\n  <li>{{item}}</li>\n  {{/each}}\n</ul>'
  t.equal(mail(html, data).text, '<ul>\n  <li>A</li>\n  <li>B</li>\n</ul>')
})

t.test('a mail prints the lines of an order, in which item is the line and all else the event', async (t) => {
  const text =
    'Order {{id}} ({{item}}):\n{{#each lines}}- {{item.qty}} x {{item.sku}}: {{item.price | times:item.qty | number:2}} {{currency}} for {{id}}\n{{/each}}Thanks for {{lines | size}} lines.'
  const { text: written, html, warnings } = mail(text, order)
  t.equal(
    written,
    'Order o-1 (a field of the event):\n- 2 x A: 19.98 EUR for o-1\n- 1 x <B>: 5.00 EUR for o-1\nThanks for 2 lines.',
  )
  t.match(html, '- 1 x &lt;B&gt;: 5.00 EUR')
  t.strictSame(warnings, [])
})

t.test('scalars, several lists and lists of variables are printed', async (t) => {
  const text = '{{#each tags}}[{{item}}]{{/each}} and {{ #each more }}{{item}},{{ /each }}{{name}}'
  t.equal(mail(text, { tags: ['a', 7, null], name: 'Ada' }, { more: [true] }).text, '[a][7][] and true,Ada')
  t.equal(mail('{{#each no.list}}x{{/each}}', { no: { list: [] } }).text, '')
  t.equal(mail('\\{{#each a}} {{b}}', { b: 1 }).text, '{{#each a}} 1')
})

t.test('what is no list prints nothing, with a warning', async (t) => {
  const of = (data: object) => mail('<{{#each order.lines}}{{item}}{{/each}}>', data)
  t.match(of({}), { text: '<>', warnings: ['order.lines is missing: {{#each}} reads lists'] })
  t.match(of({ order: { lines: 'one, two' } }), {
    text: '<>',
    warnings: ['order.lines is "one, two": {{#each}} reads lists'],
  })
  t.match(of({ order: { lines: { a: 1 } } }), {
    warnings: ['order.lines is an object: {{#each}} reads lists'],
  })
  t.match(of({ order: [{ lines: [1] }] }), { warnings: [/order is a list: the path needs the index/] })
  t.match(mail('{{#each lines}}{{item.no}}{{/each}}', order), { warnings: ['item.no is missing'] })
})

t.test('the first hundred items are printed, with a warning about the rest', async (t) => {
  const items = Array.from({ length: 20_000 }, (_, n) => n)
  const { text, warnings } = mail('{{#each items}}{{item}} {{/each}}', { items })
  t.equal(text?.trim().split(' ').length, 100)
  t.strictSame(warnings, ['items has 20000 items: {{#each}} prints the first 100'])
})

t.test(
  'a template that would print more than a mebibyte fails, and what it writes is counted before',
  async (t) => {
    const items = Array.from({ length: 100 }, () => 'x'.repeat(200))
    for (const text of [
      `{{#each items}}${'y'.repeat(190_000)}{{/each}}`,
      `{{#each items}}${'{{item}}'.repeat(60)}{{/each}}`,
    ]) {
      const startedAt = process.memoryUsage().heapUsed
      const rendered = compileMailTemplate({ text }).render({ items }, {}, new Evaluation(0))
      t.match(rendered, { fault: `renders to more than ${maxRenderedLength} characters` })
      t.ok(process.memoryUsage().heapUsed - startedAt < 50_000_000)
    }
  },
)

t.test('rounds are charged, so a list in each round of many lists ends', async (t) => {
  const items = Array.from({ length: 100 }, () => ({ a: 'x' }))
  const evaluation = new Evaluation(0)
  const one = compileMailTemplate({ text: `{{#each items}}${'{{item.a}}'.repeat(50)}{{/each}}` })
  one.render({ items }, {}, evaluation)
  t.ok(evaluation.spent >= 100 * 50 * 4, 'each placeholder of each round')
  const wide = Object.fromEntries(Array.from({ length: 19_000 }, (_, n) => [`f${n}`, n]))
  const many = compileMailTemplate({ text: '{{#each items}}{{item.a}}{{/each}}'.repeat(100) })
  t.match(many.render({ ...wide, items }, {}, new Evaluation(0)), { fault: /evaluation limit/ })
})

t.test(
  'a list within a list, a missing end, and a list in a subject are refused when they are saved',
  async (t) => {
    const cases: [text: string, message: RegExp][] = [
      [
        '{{#each a}}{{#each b}}x{{/each}}{{/each}}',
        /within {{#each}}: a list within a list cannot be printed/,
      ],
      ['{{#each a}}x', /{{#each a}} without its {{\/each}}/],
      ['x{{/each}}', /{{\/each}} without its {{#each}}/],
      ['{{#each}}x{{/each}}', /needs the path of a list: {{#each items}}/],
      ['{{#each a | upper}}x{{/each}}', /needs the path of a list/],
      ['{{#each a}}x{{/each a}}', /it has to be {{\/each}}/],
      ['{{#each a', /closing }}/],
      ['{{#eachitem}}', /is not supported/],
      ['{{#if a}}x{{/if}}', /is not supported/],
      ['{{#each a}}{{item | shout}}{{/each}}', /unknown filter: shout/],
      ['{{#each a}}{{#if b}}{{/if}}{{/each}}', /is not supported/],
      ['{{#each a}}{{item | raw}}{{/each}}', /raw, which only/],
    ]
    for (const [text, message] of cases)
      t.match(findMailTemplateFaults({ text }), [{ field: 'text', message }], text)
    const each = '{{#each a}}x{{/each}}'
    t.match(findMailTemplateFaults({ subject: each }), [
      { field: 'subject', message: /only email templates and/ },
    ])
    t.match(faultsOf('SEND_EMAIL', { to: 'a@b.io', subject: each, template: 'x' }), [/only email templates/])
    t.match(faultsOf('SEND_EMAIL', { to: each, subject: 'x', template: 'x' }), [/only email templates/])
    t.match(faultsOf('CREATE_TASK', { title: each }), [
      /config.title .*only email templates and the text of SEND_NOTIFICATION/,
    ])
    t.match(faultsOf('SEND_WEBHOOK', { url: `https://x.io/${each}` }), [/config.url/])
    t.match(findMailTemplateFaults({ text: `{{#each a}}${'{{item}}'.repeat(200)}{{/each}}` }), [
      { message: 'Must have at most 200 placeholders' },
    ])
  },
)

const url = 'https://chat.example.com/hooks/1'
const say = (text: string, data: object, format = 'slack') =>
  planOne('SEND_NOTIFICATION', { url, text, format }, data)

t.test('a chat prints a list, and what the items hold is text', async (t) => {
  const text =
    'Order {{id}}:\n{{#each lines}}• <https://x.io/{{item.sku}}|{{item.sku}}>: {{item.qty}}\n{{/each}}'
  const data = {
    id: 7,
    lines: [
      { sku: 'A', qty: 1 },
      { sku: '<!channel>', qty: 2 },
    ],
  }
  t.equal(
    say(text, data).config.text,
    'Order 7:\n• <https://x.io/A|A>: 1\n• <https://x.io/%3C!channel%3E|&lt;!channel&gt;>: 2\n',
  )
  t.equal(say('{{#each a}}{{item | raw}} {{/each}}', { a: ['*b*'] }).config.text, '*b* ')
  t.match(
    say('{{#each a}}{{item}}{{/each}}', { a: ['x'.repeat(200)].concat(Array(99).fill('y'.repeat(200))) }),
    {
      fault: /config.text must have at most 10000 characters/,
    },
  )
  t.match(say('{{#each a}}{{item}}{{/each}}', {}), {
    fault: /config.text must have at least 1 character/,
    warnings: ['a is missing: {{#each}} reads lists'],
  })
})

t.test('the items of a list do not spell a mention together, nor with what is around it', async (t) => {
  const space = '\u200b'
  const of = (text: string, a: string[]) => say(text, { a }).config.text as string
  t.equal(of('{{#each a}}{{item}}{{/each}}', ['@', 'channel']), `@${space}${space}channel`)
  t.equal(of('@{{#each a}}{{item}}{{/each}}', ['here']), `@${space}here`)
  t.equal(of('{{#each a}}{{item}}{{/each}}{{b | default:"channel"}}', ['@']), `@${space}${space}channel`)
  t.equal(of('{{b | default:"@"}}{{#each a}}{{item}}{{/each}}', ['everyone']), `@${space}${space}everyone`)
})

t.test('a link does not go on over the border of a list', async (t) => {
  for (const text of [
    'https://x.io/{{#each a}}{{item}}{{/each}}',
    '<https://x.io/{{#each a}}{{item}}{{/each}}|x>',
    '{{#each a}}https://x.io/{{item}}{{/each}}',
    '[x]({{#each a}}{{item}}{{/each}})',
  ])
    t.match(
      faultsOf('SEND_NOTIFICATION', { url, text }),
      [/a link that goes on over {{#each}} or {{\/each}}/],
      text,
    )
  for (const text of [
    '{{#each a}}https://x.io/{{item}} {{/each}}',
    '{{#each a}}[x](https://x.io/{{item}}){{/each}}',
  ])
    t.strictSame(faultsOf('SEND_NOTIFICATION', { url, text }), [])
  t.strictSame(
    faultsOf('SEND_NOTIFICATION', { url, format: 'text', text: 'https://x.io/{{#each a}}{{item}}{{/each}}' }),
    [],
  )
})

t.test('tools see what a text with a list reads of the event', async (t) => {
  const uses = listPlaceholderUses(
    '{{a}}{{#each b.c}}{{item.d | times:e | plus:item.f}}{{g}}{{/each}}{{h | default:i}}',
  )
  t.strictSame(
    uses.flatMap(({ reads }) => reads),
    ['a', 'b.c', 'e', 'g', 'h', 'i'],
  )
})
