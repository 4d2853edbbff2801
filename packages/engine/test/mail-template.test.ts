import fc from 'fast-check'
import t from 'tap'
import { emailAddress } from '../src/templates/formats.js'
import {
  compileMailTemplate,
  escapeHtml,
  findMailTemplateFaults,
  type MailTexts,
} from '../src/templates/mail-template.js'
import { maxRenderedLength } from '../src/values/to-text.js'
import { Evaluation } from '../src/work/evaluation.js'
import { draws } from './fixtures/draws.js'

function render(texts: MailTexts, data: object = {}, variables: object = {}) {
  return compileMailTemplate(texts).render(data, variables, new Evaluation(0))
}

t.test('a placeholder with HTML, invisible characters or marks of other languages is refused', async (t) => {
  const faultsIn = (html: string) => findMailTemplateFaults({ html }).map(({ message }) => message)
  for (const name of ['<b>name</b>', 'na<wbr>me', 'name&nbsp;', '&nbsp;name', '<span>name</span>'])
    t.match(faultsIn(`Hi {{${name}}}`), [/^Has HTML within a placeholder/], name)
  for (const name of ['\u200bname', 'name\u200b', 'na\u00adme', 'name\u202c', '\u2060name'])
    t.match(faultsIn(`Hi {{${name}}}`), [/^Has an invisible character in a placeholder/], encodeURI(name))
  for (const name of [
    '- name -',
    'name -',
    '~name~',
    '= name',
    '=name',
    '@root.name',
    '@index',
    '@first',
    '@key | upper',
  ])
    t.match(faultsIn(`Hi {{${name}}}`), [/^Has syntax of another template language/], name)
  for (const name of ['R&D', 'Size <cm>', 'a-b', '-name', '@type', 'نمی\u200cخواهم', 'a = b', '\u00a0name '])
    t.strictSame(faultsIn(`Hi {{${name}}}`), [], name)
})

t.test('a part that a template lacks is null, and is not made from the other part', async (t) => {
  t.same(render({ text: 'Hi' }), { subject: null, text: 'Hi', html: null, warnings: [] })
  t.same(render({ html: '<p>Hi</p>', text: null }), {
    subject: null,
    text: null,
    html: '<p>Hi</p>',
    warnings: [],
  })
})

t.test('the special characters of HTML are escaped everywhere, and no others', async () => {
  const character = fc.constantFrom('&', '<', '>', '"', "'", 'a', ' ', ';', 'é', '€', '\u{1F600}', '\u0000')
  fc.assert(
    fc.property(fc.array(character, { maxLength: 12 }), (characters) => {
      const escaped = escapeHtml(characters.join(''))
      const found = escaped.match(/&(?:amp|lt|gt|quot|#39);|./gsu) ?? []
      const read = found.map((part) => entities.get(part) ?? part)
      return read.join('') === characters.join('') && !/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/.test(escaped)
    }),
    { numRuns: draws(2_000) },
  )
})

const entities = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
])

t.test("the action's own variables have precedence over the event's data", async (t) => {
  const texts = { text: '{{name}}, {{city}}, {{lead.a}}' }
  const data = { name: 'Ada', city: 'Paris', lead: { a: 1 } }
  const none = { subject: null, html: null }
  t.strictSame(render(texts, data, { name: 'Bob', lead: { b: 2 } }), {
    ...none,
    text: 'Bob, Paris, ',
    warnings: ['lead.a is missing'],
  })
  t.strictSame(render({ text: '{{name}}' }, data, { name: null }), { ...none, text: '', warnings: [] })
  t.strictSame(render({ text: '{{toString}}{{__proto__}}' }, {}, Object.create({ toString: 'x' })), {
    ...none,
    text: '',
    warnings: ['toString is missing', '__proto__ is missing'],
  })
  const own = JSON.parse('{"__proto__":{"x":"own"},"constructor":"c"}')
  t.strictSame(render({ text: '{{__proto__.x}}{{constructor}}{{x}}' }, own), {
    ...none,
    text: 'ownc',
    warnings: ['x is missing'],
  })
})

t.test('the subject renders as in an action: from the data only, and as text', async (t) => {
  t.match(render({ subject: '{{name}} & {{code}}' }, { name: '<A>', code: '007' }, { name: 'B' }), {
    subject: '<A> & 007',
  })
})

t.test('a lone placeholder renders as text, too', async (t) => {
  t.match(render({ text: '{{a}}', html: '{{a}}' }, { a: { b: '<' } }), {
    text: '{"b":"<"}',
    html: '{&quot;b&quot;:&quot;&lt;&quot;}',
  })
  t.match(render({ text: '{{a}}' }, { a: 42.5 }), { text: '42.5' })
})

t.test('the value of a placeholder is never markup in HTML, whatever its filters', async (t) => {
  const cases: [string, unknown, string][] = [
    ['<p>{{a}}</p>', '<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    ['<a href="{{a}}">', '" onmouseover="x', '<a href="&quot; onmouseover=&quot;x">'],
    ["<a href='{{a}}'>", "' onmouseover='x", "<a href='&#39; onmouseover=&#39;x'>"],
    ['{{a}}', '&lt;b&gt;', '&amp;lt;b&amp;gt;'],
    ['{{a}}', '&#60;', '&amp;#60;'],
    ['{{a}}', '<!--', '&lt;!--'],
    ['<!-- {{a}} -->', '-->', '<!-- --&gt; -->'],
    ['<title>{{a}}</title>', '</title><script>', '<title>&lt;/title&gt;&lt;script&gt;</title>'],
    ['{{a}}', '<svg/onload=x>', '&lt;svg/onload=x&gt;'],
    ['{{a}}', '<\u0000b>', '&lt;\u0000b&gt;'],
    ['{{a}}', '＜b＞', '＜b＞'],
    ['{{a | upper}}', '<b>&amp;', '&lt;B&gt;&amp;AMP;'],
    ['{{a | json}}', '"</script>', '&quot;\\&quot;&lt;/script&gt;&quot;'],
    ['{{a | truncate:4}}', '<<<<<<', '&lt;&lt;&lt;…'],
    ['{{a | urlencode}}', `<'"&>`, '%3C&#39;%22%26%3E'],
    ['{{a | number:2}}', '<i>', '&lt;i&gt;'],
    ['{{no | default:"<b>"}}', '', '&lt;b&gt;'],
    ['{{a}}', ['<', { '"': "'" }], '[&quot;&lt;&quot;,{&quot;\\&quot;&quot;:&quot;&#39;&quot;}]'],
    ['\\{{<b>{{a}}</b>', '>', '{{<b>&gt;</b>'],
  ]
  for (const [html, a, expected] of cases) t.match(render({ html }, { a }), { html: expected }, html)
  fc.assert(
    fc.property(fc.string(), (a) => {
      const mail = render({ html: '{{a}}', text: '{{a}}' }, { a })
      return (
        'html' in mail && !/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/.test(mail.html ?? '<') && mail.text === a
      )
    }),
  )
})

t.test('rendered text is not rendered again, neither in its part nor in another', async (t) => {
  const data = { a: '{{b}}', b: 'secret' }
  t.match(render({ text: '{{a}}{{no | default:a}}', html: '{{no | default:a}}' }, data, { c: '{{b}}' }), {
    text: '{{b}}{{b}}',
    html: '{{b}}',
  })
})

t.test('a warning is reported once for all parts', async (t) => {
  const mail = render({ subject: '{{no}}', text: '{{no}}', html: '{{no}} {{at | date}}' }, { at: 'x' })
  t.match('warnings' in mail && mail.warnings, [
    'no is missing',
    /^at is not a date, because "x" is not a time/,
  ])
  t.equal('warnings' in mail && mail.warnings.length, 2)
})

t.test('a mail has a maximum number of rendered characters, counted after escaping', async (t) => {
  const fault = { fault: `renders to more than ${maxRenderedLength} characters` }
  const a = 'x'.repeat(maxRenderedLength / 2)
  t.match(render({ text: '{{a}}{{a}}' }, { a }), { text: a + a })
  t.same(render({ text: '{{a}}', html: '{{a}}{{a}}' }, { a }), fault)
  t.same(render({ html: '{{a}}' }, { a: '"'.repeat(maxRenderedLength / 4) }), fault)
})

t.test('all faults are reported at once with their part, and the template does not compile', async (t) => {
  const texts = { subject: '{{a..b}}', text: '{{', html: '<p>{{a | shout}}</p>' }
  t.same(findMailTemplateFaults(texts), [
    { field: 'subject', message: 'Has a placeholder without a field path: {{a..b}}' },
    { field: 'text', message: 'Has a placeholder without its closing }}' },
    {
      field: 'html',
      message: 'Has an unknown filter: shout. All: /docs/rules#filters',
    },
  ])
  for (const [part, text] of Object.entries(texts)) t.throws(() => compileMailTemplate({ [part]: text }))
  t.same(findMailTemplateFaults({ text: '{{a}}'.repeat(200), html: '{{a}}'.repeat(201) }), [
    { field: 'html', message: 'Must have at most 200 placeholders' },
  ])
  t.same(findMailTemplateFaults({ text: null, html: 5 }), [], 'a schema reports these faults')
  t.same(findMailTemplateFaults({}), [])
})

t.test('a template renders with any JSON', async () => {
  fc.assert(
    fc.property(fc.object(), fc.object(), (data, variables) => {
      const mail = render({ text: '{{a}} {{a.b | json}}', html: '{{a | upper}}' }, data, variables)
      return 'text' in mail && typeof mail.text === 'string' && typeof mail.html === 'string'
    }),
  )
})

t.test('an address is exactly one mailbox, and cannot become two', async (t) => {
  const good = [
    'a@b.c',
    'root@localhost',
    "o'neil+tag_1%x@sub.example.co",
    'ä+1@bücher.example',
    '用户@例子.测试',
    'a@xn--bcher-kva.example',
    `${'a'.repeat(64)}@x.io`,
  ]
  const isRefused = (address: string) => emailAddress(address) === 'must be one email address, without a name'
  t.same(good.filter(isRefused), [])
  const bad = [
    '',
    'nobody',
    '@x.io',
    'a@',
    'a@x.io ',
    'Ann <a@x.io>',
    '<a@x.io>',
    'a@x.io, b@y.io',
    'a@x.io;b@y.io',
    'team: a@x.io;',
    'a@x.io(b@y.io)',
    '"a@x.io"@y.io',
    'a@b@x.io',
    'a@[127.0.0.1]',
    'a@x.io\r\nBcc: b@y.io',
    'a@x\u0000.io',
    'a@x.io\u0085b',
    'a@x.io\u2028b',
    'a\u202e@x.io',
    'a@x\u200b.io',
    'a\ud800@x.io',
    'a@x.io，y.io',
    'a@x.io；y',
    'a＠x.io',
    'a@x（y）.io',
    'a@x＂.io',
    'a@⑴.io',
    'a@x..io',
    'a@.io',
    'a@x.io.',
    'a@x/y.io',
    'a@x%2cy.io',
    'a@ﷺ.io',
    'a@xn--a.io',
    `${'a'.repeat(320)}@x.io`,
  ]
  t.same(
    bad.filter((address) => !isRefused(address)),
    [],
  )
})

t.test('the work of filters is charged, and rendering ends where it is used up', async (t) => {
  const text = '{{a | upper | lower | upper | lower | upper | lower | upper | lower | truncate:1}}'.repeat(
    150,
  )
  const startedAt = process.cpuUsage()
  t.match(render({ text, html: text }, { a: 'x'.repeat(900_000) }), {
    fault: /cannot be rendered: .*cost units per event/,
  })
  t.ok(process.cpuUsage(startedAt).user < 1_000_000, 'all of it takes some 3 s')
})
