import t from 'tap'
import { createClient } from '../src/create-client.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

t.test('a change names the ETag that its caller has read', async (t) => {
  const last = { status: 200, headers: { etag: '"seen"' }, body: {} }
  const { baseUrl, asked } = await openFlakyServer(t, [], last)
  const { emailTemplates, developer } = createClient({ baseUrl, apiKey: 'ark_test' })
  let ifTag: string | undefined
  await emailTemplates.get('t', { onHeaders: (headers) => (ifTag = headers.get('etag') ?? undefined) })
  t.equal(ifTag, '"seen"')
  const { members, subscriptions, workspaces } = developer
  await emailTemplates.update('t', { text: 'x' }, { ifTag })
  await emailTemplates.patch('t', { text: 'x' }, { ifTag })
  await members.put('ada', { role: 'viewer' }, { ifTag })
  await subscriptions.update('s', { isActive: false }, { ifTag })
  await workspaces.update('w', { name: 'Acme' }, { ifTag })
  const [read, ...changes] = asked.map(({ headers }) => headers['if-match'])
  t.same([read, ...new Set(changes)], [undefined, '"seen"'])
  t.equal(changes.length, 5)
})

t.test('a deletion does so, too', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, [], { status: 204 })
  const { emailTemplates, developer } = createClient({ baseUrl, apiKey: 'ark_test' })
  const options = { ifTag: '"seen"' }
  await emailTemplates.delete('t', options)
  await developer.members.remove('ada', options)
  await developer.subscriptions.delete('s', options)
  t.same(
    asked.map(({ headers }) => headers['if-match']),
    Array(3).fill('"seen"'),
  )
})

t.test('a refusal gives no headers', async (t) => {
  const refused = { status: 412, headers: { etag: '"x"' }, body: { error: 'It has changed' } }
  const { baseUrl } = await openFlakyServer(t, [], refused)
  const options = { ifTag: '"old"', onHeaders: () => t.fail('there is an error instead') }
  await t.rejects(createClient({ baseUrl, apiKey: 'a' }).emailTemplates.patch('t', {}, options), {
    message: 'It has changed',
  })
})
