import { createApiKey } from '@automation/access'
import { newId } from '@automation/database'
import t from 'tap'
import { mint, startApi } from './fixtures/api.js'

const api = await startApi(t)

t.test('a user learns their workspaces and roles without naming a workspace', async (t) => {
  const { id, users, tokens } = await api.makeWorkspace()
  const { status, body } = await api.call('GET', '/api/me', { token: tokens.editor })
  t.equal(status, 200)
  t.match(body, {
    actor: `user:${users.editor}`,
    userId: users.editor,
    scopes: null,
    workspaces: [{ id, name: 'Tests', role: 'editor' }],
  })
  t.match(await api.call('GET', '/api/me', { token: await mint('new-here') }), {
    status: 200,
    body: { userId: 'new-here', workspaces: { length: 0 } },
  })
  t.equal((await api.call('GET', '/api/me')).status, 401)
})

t.test('an API key learns its workspace and the role that its scopes give', async (t) => {
  const { id } = await api.makeWorkspace()
  const { database } = api.app
  const actor = 'user:tests'
  const { key } = await createApiKey(
    { database, workspaceId: id, actor },
    { name: 'CI', scopes: ['rules:run'] },
  )
  t.match(await api.call('GET', '/api/me', { token: key }), {
    status: 200,
    body: { userId: null, scopes: ['rules:run'], workspaces: [{ id, role: 'operator' }] },
  })
  t.equal((await api.call('GET', '/api/me', { token: key, workspace: newId() })).status, 403)
})
