import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import {
  createEmailTemplate,
  deleteEmailTemplate,
  type EmailTemplate,
  updateEmailTemplate,
} from '@automation/rules'
import t from 'tap'
import { openMailServer, openPost, type Post, readHeaders } from './fixtures/mail.js'

const store = (post: Post, text: string | null, html: string | null = null, name = 'welcome') =>
  createEmailTemplate(post.administrator, { name, text, html })

t.test("a stored template renders with the event's data and the action's variables", async (t) => {
  const post = await openPost(t)
  await store(
    post,
    'Hi {{name}} of {{city}}, <3 {{greeting | upper}}',
    '<p title="{{name}}">{{name}} &amp; {{no}}{{deep.no}}</p>',
  )
  const result = await post.send({
    config: { variables: { greeting: 'bye {{unknown}}', city: '{{city}} {{rendered}}' } },
    data: { name: '<"Ada">', city: 'Paris', rendered: '{{name}}' },
  })
  t.match(result, { status: 'success' })
  t.same(result.warnings, [
    'unknown is missing',
    'Template "welcome": no is missing',
    'Template "welcome": deep.no is missing',
  ])
  const [mail = ''] = await post.files()
  t.match(mail, 'Hi <"Ada"> of Paris {{name}}, <3 BYE')
  t.match(mail, '<p title="&lt;&quot;Ada&quot;&gt;">&lt;&quot;Ada&quot;&gt; &amp; </p>')
  matchLists(t, readHeaders(mail), { 'content-type': [/^multipart\/alternative/] })
})

t.test('a template of text gives a mail of text, and one of HTML a mail with both', async (t) => {
  const post = await openPost(t)
  await store(post, 'Only text', null, 'text')
  await store(
    post,
    null,
    '<p>Dear <b>{{name}}</b>,</p><p>see <a href="https://x.example/?a=1&amp;b=2">the page</a></p>',
    'html',
  )
  await post.send({ config: { template: 'text' } })
  matchLists(t, readHeaders((await post.files())[0] ?? ''), { 'content-type': ['text/plain; charset=utf-8'] })
  await post.send({ config: { template: 'html' }, data: { name: '<Ada>' } })
  const [mail = ''] = await post.files()
  matchLists(t, readHeaders(mail), { 'content-type': [/^multipart\/alternative/] })
  const read = mail
    .replaceAll(/=\r?\n/g, '')
    .replaceAll('=3D', '=')
    .replaceAll('\r\n', '\n')
  t.match(read, 'Dear <Ada>,\n\nsee the page (https://x.example/?a=1&b=2)\n', 'as text')
  t.match(read, '<p>Dear <b>&lt;Ada&gt;</b>,</p>', 'as HTML')
})

t.test('without a template of the name, the built-in mail is sent with a warning', async (t) => {
  const post = await openPost(t)
  await store(post, 'Hi', null, 'Welcome')
  const result = await post.send({
    config: { template: '{{which}}', variables: { score: '{{score}}' } },
    data: { which: 'welcome', score: 7 },
  })
  t.same(result.warnings, ['No template named "welcome", so the built-in email was sent'])
  t.match((await post.files())[0], 'score: 7')
  matchLists(t, await post.send({ config: { template: 'nul\0' } }), { warnings: [/No template/] })
})

t.test('a template of another workspace is not used', async (t) => {
  const post = await openPost(t)
  await store(await openPost(t), 'Not for you')
  matchLists(t, await post.send(), { warnings: [/^No template named "welcome"/] })
  t.notMatch((await post.files())[0], 'Not for you')
})

t.test('each mail uses the current version of its template', async (t) => {
  const post = await openPost(t)
  const read = async () => {
    const { status } = await post.send()
    return status === 'success' ? (await post.files())[0]?.split(/\r?\n\r?\n/)[1]?.trim() : status
  }
  let template = await store(post, 'v0')
  t.equal(await read(), 'v0')
  for (let round = 1; round <= 20; round += 1) {
    const change = (text: string) => updateEmailTemplate(post.administrator, template.id, { text })
    if (round % 2) template = await change(`passing ${round}`)
    const again = round % 3 ? undefined : read()
    template = await change(`v${round}`)
    await again
    t.equal(await read(), `v${round}`)
  }
  await deleteEmailTemplate(post.administrator, template.id)
  matchLists(t, (await post.send()).warnings, [/No template/])
  await store(post, 'anew')
  t.equal(await read(), 'anew')
  const renamed: EmailTemplate = await store(post, 'other', null, 'other')
  await updateEmailTemplate(post.administrator, renamed.id, { name: 'third' })
  matchLists(t, (await post.send({ config: { template: 'other' } })).warnings, [/No template named "other"/])
})

t.test('each of many concurrent mails uses its own template', async (t) => {
  const server = await openMailServer(t)
  const post = await openPost(t, server.url)
  for (let index = 0; index < 5; index += 1) await store(post, `text ${index} for {{to}}`, null, `t${index}`)
  const mails = Array.from({ length: 100 }, (_, index) => index)
  const results = await Promise.all(
    mails.map((index) =>
      post.send({
        config: { to: `a${index}@example.com`, template: `t${index % 6}` },
        data: { to: `a${index}` },
        executionId: newId(),
      }),
    ),
  )
  for (const [index, { warnings }] of results.entries())
    t.equal(warnings?.length ?? 0, index % 6 === 5 ? 1 : 0)
  t.equal(server.deliveries.length, 100)
  for (const { recipients, content } of server.deliveries) {
    const index = Number(recipients[0]?.match(/\d+/)?.[0])
    t.match(content, index % 6 === 5 ? 'Sent by the automation rule' : `text ${index % 6} for a${index}\r\n`)
  }
})

t.test('a mail that would be too long fails, and is not retried', async (t) => {
  const post = await openPost(t)
  await store(post, null, '{{a}}')
  t.match((await post.send({ data: { a: '"'.repeat(300_000) } })).effect, {
    status: 'failed',
    error: 'The template "welcome" renders to more than 1048576 characters',
    isFinal: true,
  })
  t.same(await post.files(), [])
})

t.test('a template that no longer compiles fails without a retry, and affects no other', async (t) => {
  const post = await openPost(t)
  const { id } = await store(post, 'fine')
  const { database, workspaceId } = post.administrator
  const templates = database.forWorkspace(workspaceId).emailTemplate
  await templates.update({ where: { id }, data: { text: '{{a | from_a_later_version}}' } })
  t.match((await post.send()).effect, {
    status: 'failed',
    error: /^The template "welcome" does not compile: .*from_a_later_version/,
    isFinal: true,
  })
  await templates.update({ where: { id }, data: { text: 'fine again' } })
  t.match(await post.send(), { status: 'success' })
})
