import { newId } from '@automation/database'
import t from 'tap'
import { configOf, startApi, type Workspace } from './fixtures/api.js'
import { limited, makeKey, makeSession, open, openSession, sessions } from './fixtures/embed.js'

const api = await startApi(t)

const none = { status: 404, headers: { 'x-error-code': 'embed_session_not_found' } }
const pathOf = ({ id }: Workspace) => `/api/developer/v1/workspaces/${id}`

/** As the server of the console asks: without a token. */
const askFrame = (id: string, asked = {}) =>
  api.call<{ origins: string[] }>('GET', `${sessions}/${id}/frame`, asked)

function setOrigins(workspace: Workspace, embedOrigins: unknown, role: 'admin' | 'editor' = 'admin') {
  const body = { embedOrigins }
  return workspace.callAs(role)<{ embedOrigins: string[] }>('PATCH', pathOf(workspace), { body })
}

t.test('an admin lists the origins that may frame the sessions of a workspace', async (t) => {
  const [workspace, other] = await Promise.all([api.makeWorkspace(), api.makeWorkspace()])
  const { id } = await makeSession(workspace)
  t.strictSame((await askFrame(id)).body, { origins: [] }, 'without an entry nobody')
  const origins = ['https://app.example.com', 'http://localhost:5173', 'http://127.0.0.1:8080']
  t.match(await setOrigins(workspace, origins), { status: 200, body: { embedOrigins: origins } })
  t.strictSame((await workspace.callAs('viewer')('GET', pathOf(workspace))).body, {
    ...(await workspace.call<object>('GET', pathOf(workspace))).body,
    embedOrigins: origins,
  })
  const { status, headers, body } = await askFrame(id)
  t.strictSame([status, headers['cache-control'], body], [200, 'no-store', { origins }])
  t.strictSame((await askFrame(id.toUpperCase())).body, { origins })
  const elsewhere = await makeSession(other)
  t.strictSame((await askFrame(elsewhere.id)).body, { origins: [] }, 'not those of other workspaces')

  const renamed = await workspace.call('PATCH', pathOf(workspace), { body: { name: 'Renamed' } })
  t.match(renamed.body, { embedOrigins: origins }, 'what is not sent stays')
  const [entry] = await workspace.database.auditEntry.findMany({ where: { action: 'workspace.updated' } })
  t.match(entry, { actor: `user:${workspace.users.admin}`, details: { embedOrigins: origins } })
  t.strictSame((await setOrigins(workspace, [])).body.embedOrigins, [])
  t.strictSame((await askFrame(id)).body, { origins: [] })
})

t.test('only admins list origins: no editor, no session, and no key without the scope', async (t) => {
  const workspace = await api.makeWorkspace()
  const origins = ['https://evil.example.com']
  t.match(await setOrigins(workspace, origins, 'editor'), { status: 403 })
  const { key } = await makeKey(workspace, ['embed', 'rules:write'])
  const body = { embedOrigins: origins }
  t.match(await api.call('PATCH', pathOf(workspace), { token: key, body }), { status: 403 })
  const session = await openSession(api, workspace, { pages: ['rules'], publish: true })
  t.match(await session.call('PATCH', pathOf(workspace), { body }), { status: 403 })
  t.match(await session.call('GET', pathOf(workspace)), limited)
  t.strictSame((await askFrame(session.id)).body, { origins: [] })
})

t.test('an origin is exact, and nothing else fits into the header of the frame', async (t) => {
  const workspace = await api.makeWorkspace()
  const message =
    'Must be an origin as browsers send it, such as https://app.example.com: https, or http on localhost or 127.0.0.1, in lower case, without a path or a usual port'
  for (const wrong of [
    ...['*', 'https://*', 'https://*.example.com', 'https:', 'null', '', 'app.example.com', "'self'"],
    ...['http://app.example.com', 'http://localhost.example.com', 'ftp://localhost', 'ws://localhost'],
    ...['https://app.example.com/', 'https://app.example.com/a', 'https://app.example.com?a', 'https://a#b'],
    ...['https://ada:x@app.example.com', 'https://@app.example.com', 'https://App.example.com'],
    ...[
      'https://app.example.com:443',
      'http://localhost:80',
      'https://a:0443',
      'https://a:70000',
      'https://a:',
    ],
    ...['https://a;script-src', 'https://a; script-src *', 'https://a,https://b', 'https://a https://b'],
    ...[
      'https://a\r\nx: y',
      'https://a\u0000',
      'https://bücher.example',
      'https://a_b.example',
      'https://0x7f.1',
    ],
    ...[
      'https://1.2.3',
      'https://999.1.1.1',
      'https://a..b',
      'https://xn--.example',
      'http://[::1]',
      'http://[::1]:8080',
      'https://[::1]',
      'http://[0::1]',
    ],
    `https://${'a'.repeat(300)}.example`,
  ]) {
    const { status, body } = await setOrigins(workspace, ['https://fine.example.com', wrong])
    t.equal(status, 422, JSON.stringify(wrong))
    const [fault] = (body as unknown as { errors: { field: string; message: string }[] }).errors
    t.equal(fault?.field, 'embedOrigins[1]', JSON.stringify(wrong))
    if (wrong.length <= 300 && !wrong.includes('\u0000')) t.equal(fault?.message, message)
  }
  for (const [origins, field] of [
    [null, 'embedOrigins'],
    ['https://a.example', 'embedOrigins'],
    [['https://a.example', 'https://a.example'], 'embedOrigins'],
    [Array.from({ length: 21 }, (_, at) => `https://a${at}.example`), 'embedOrigins'],
    [[{}], 'embedOrigins[0]'],
  ] as const)
    t.match(await setOrigins(workspace, origins), { status: 422, body: { errors: [{ field }] } })
  const most = Array.from({ length: 20 }, (_, at) => `https://a${at}.example:8443`)
  t.match(await setOrigins(workspace, most), { status: 200, body: { embedOrigins: most } })
  t.match(await setOrigins(workspace, ['https://xn--bcher-kva.example']), { status: 200 })
})

t.test('only a live session says who may frame it', async (t) => {
  const workspace = await api.makeWorkspace()
  await setOrigins(workspace, ['https://app.example.com'])
  const { key, id: keyId } = await makeKey(workspace, ['embed', 'rules:read'])
  const byKey = await makeSession(workspace, { role: 'viewer' }, { token: key })
  const opened = await openSession(api, workspace)
  for (const { id } of [byKey, opened]) t.equal((await askFrame(id)).status, 200)
  await workspace.call('DELETE', `/api/developer/v1/api-keys/${keyId}`)
  await workspace.call('DELETE', `${sessions}/${opened.id}`)
  for (const id of [byKey.id, opened.id, newId(), workspace.id, 'x', '%00', `${opened.id}x`])
    t.match(await askFrame(id), none, id)
  const over = await makeSession(workspace)
  const past = new Date(Date.now() - 1_000)
  await workspace.database.embedSession.update({ where: { id: over.id }, data: { expiresAt: past } })
  t.match(await askFrame(over.id), none, 'its time is over')
})

t.test('who opens a session learns which origins may frame it, those of the operator included', async (t) => {
  const shared = ['https://product.example.com', 'http://localhost:8080']
  const embedding = await startApi(t, { EMBED_ORIGINS: ` ${shared.join(' , ')} ` })
  const workspace = await embedding.makeWorkspace()
  const own = ['https://app.example.com', 'http://localhost:8080']
  await setOrigins(workspace, own)
  const made = await makeSession(workspace)
  const origins = [...own, 'https://product.example.com']
  t.strictSame((await embedding.call('GET', `${sessions}/${made.id}/frame`)).body, { origins })
  const { status, body } = await open(embedding, made)
  t.strictSame([status, body.origins], [200, origins])
})

t.test('the API does not start with origins of the operator that are none', async (t) => {
  const wrong = ['*', 'https://a.example/', 'http://a.example', 'https://a.example,', 'https://a;b', ',']
  for (const EMBED_ORIGINS of wrong)
    t.throws(() => configOf({ EMBED_ORIGINS }), { message: /EMBED_ORIGINS must be origins/ }, EMBED_ORIGINS)
  t.strictSame(configOf().embedOrigins, [])
})
