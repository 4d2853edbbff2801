import { putMember } from '@automation/access'
import t from 'tap'
import { run } from './fixtures/run.js'
import { startSite } from './fixtures/site.js'

const directory = t.testdir()
const env = { ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }
const { database, openWorkspace } = await startSite()

const { host, pathname } = new URL(process.env.DATABASE_URL ?? '')
const targetOf = (id: string) =>
  `Target: database ${pathname.slice(1)} on ${host} (from DATABASE_URL), workspace "Acme" (${id})\n`

/** A workspace with one thing of each kind that can be taken away for good. */
async function makeSite() {
  const site = await openWorkspace(directory)
  const { id, client, ask } = site
  const member = `grace-${id}`
  await ask(`members set ${member} --role viewer`)
  const key = await ask<{ id: string }>('keys create --name CI --scopes admin')
  const secret = await ask<{ id: string }>('secrets create --provider billing')
  const subscription = await ask<{ id: string }>(
    'subscriptions create --url https://example.com/ --events rule.paused',
  )
  return {
    ...site,
    client,
    secretId: secret.id,
    lines: {
      'member.removed': `members remove ${member}`,
      'api_key.revoked': `keys revoke ${key.id}`,
      'signing_secret.revoked': `secrets revoke ${secret.id}`,
      'subscription.deleted': `subscriptions delete ${subscription.id}`,
      'workspace.updated': `workspaces update ${id} --retention-days 7`,
    },
    listActions: async () => {
      const entries = await database.forWorkspace(id).auditEntry.findMany({ select: { action: true } })
      return entries.map(({ action }) => action as string)
    },
  }
}

t.test('what cannot be undone is not done by a program without --yes', async (t) => {
  const { lines, listActions, client, answer } = await makeSite()
  const before = await listActions()
  const refused = {
    code: 64,
    output: '',
    errors: 'Use --yes: there is no terminal to ask for confirmation.\n',
  }
  for (const line of Object.values(lines)) {
    t.same(await client(line), refused, line)
    t.same(await answer('y\n', `${line} --json`), refused, `${line} --json`)
  }
  t.strictSame(await listActions(), before)
})

t.test('at a terminal it shows its target and asks, and anything but yes changes nothing', async (t) => {
  const { target, lines, listActions, answer } = await makeSite()
  const before = await listActions()
  const declined = { code: 3, output: '', errors: `${target}Nothing was changed.\n` }
  for (const line of Object.values(lines)) {
    t.same(await answer('n\n', line), declined, line)
    t.same(await answer('', line), declined, `${line}, closed`)
  }
  t.strictSame(await listActions(), before)
})

t.test('after yes, or with --yes, it is done', async (t) => {
  const [asked, given] = [await makeSite(), await makeSite()]
  for (const [action, line] of Object.entries(asked.lines)) {
    const done = await asked.answer('y\n', line)
    t.match(done, { code: 0, errors: asked.target }, line)
    t.ok((await asked.listActions()).includes(action), action)
  }
  for (const [action, line] of Object.entries(given.lines)) {
    const done = await given.client(`${line} --yes`)
    t.match(done, { code: 0, errors: given.target }, line)
    t.ok((await given.listActions()).includes(action), action)
  }
})

t.test('every other change shows its target as well, without user and password', async (t) => {
  const { id, secretId, client, target, user } = await makeSite()
  for (const line of [`secrets retire ${secretId}`, `members set ${user} --role admin`])
    t.match(await client(line), { code: 0, errors: target }, line)
  const own = `--workspace ${id}`
  const lines = [
    `members set ${own} --user bo-${id} --role viewer`,
    `keys create ${own} --name a --scopes admin`,
    `secrets create ${own} --provider a`,
    `workspaces update ${id} --plan standard`,
  ]
  for (const line of lines)
    t.match(await run('admin', line, directory, env), { code: 0, errors: targetOf(id) }, line)
  const created = await run('admin', 'workspaces create --name A --admin a', directory, env)
  t.same(created.errors, `Target: database ${pathname.slice(1)} on ${host} (from DATABASE_URL)\n`)
  const url = new URL(process.env.DATABASE_URL ?? '')
  if (url.username === '') url.username = 'postgres'
  url.password = 'hunter2'
  const secretive = await run('admin', lines[0] ?? '', directory, { DATABASE_URL: url.href })
  t.match(secretive.errors, /^Target: database \S+ on \S+ \(from DATABASE_URL\)|^Cannot connect/)
  t.notMatch(secretive.errors, 'hunter2')
})

t.test('a created token is in the audit log of each workspace that it gives access to', async (t) => {
  const [one, other, foreign] = [await makeSite(), await makeSite(), await makeSite()]
  const user = `bo-${one.id}`
  for (const { id } of [one, other])
    await putMember({ database, actor: 'cli:test', workspaceId: id }, { userId: user, role: 'viewer' })
  const minted = await run('admin', `tokens mint --user ${user} --expires-in 2h`, directory, {
    JWT_SECRET: 'a secret of tests with more than 32 characters',
  })
  t.match(minted, {
    code: 0,
    output: /^\S+\n$/,
    errors: /\nRecorded in the audit log of "Acme", "Acme"\.\n$/,
  })
  for (const { id } of [one, other]) {
    const entry = await database
      .forWorkspace(id)
      .auditEntry.findFirstOrThrow({ where: { action: 'token.minted' } })
    t.match(entry, { actor: /^cli:/, subject: user })
    const { expiresAt } = entry.details as { expiresAt: string }
    t.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 7_200_000) < 60_000)
    t.notMatch(JSON.stringify(entry), minted.output.trim())
  }
  t.notOk((await foreign.listActions()).includes('token.minted'))
})
