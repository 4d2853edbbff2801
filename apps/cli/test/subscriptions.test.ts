import { randomBytes } from 'node:crypto'
import {
  createWorkspace,
  type NewSubscription,
  type SigningSecret,
  type Subscription,
} from '@automation/access'
import { openDatabase } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { type Run, run, runJson } from './fixtures/run.js'

const directory = t.testdir()
const env = { ENCRYPTION_KEY: randomBytes(32).toString('base64') }
const admin = (line: string): Promise<Run> => run('admin', line, directory, env)
const ask = <Value>(line: string): Promise<Value> => runJson<Value>('admin', line, directory, env)

const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

const makeWorkspace = () =>
  createWorkspace({ database, actor: 'cli:test' }, { name: 'Acme', adminUserId: 'ada' })

t.test('a URL is subscribed, tested and unsubscribed, and a host has its outgoing secret', async (t) => {
  const { id } = await makeWorkspace()
  const own = `--workspace ${id}`
  const made = await ask<NewSubscription>(
    `subscriptions create ${own} --url https://example.com/hooks --events rule.paused,execution.failed`,
  )
  const { secret, ...subscription } = made
  t.match(secret, /^whsec_/)
  const [list, ping, elsewhere, host] = await Promise.all([
    ask<Subscription[]>(`subscriptions list ${own}`),
    ask<{ id: string }>(`subscriptions test ${subscription.id} ${own}`),
    admin(`subscriptions delete ${subscription.id} --workspace ${(await makeWorkspace()).id} --yes`),
    admin(`secrets create ${own} --direction outgoing --provider hooks.example.com`),
  ])
  t.same(list, [subscription])
  t.match(await database.system.event.findUnique({ where: { id: ping.id } }), { ruleId: subscription.id })
  t.match(elsewhere, { code: 1, errors: '\nSubscription not found.\n' })
  t.match(host.output, /^direction +outgoing$/m)
  t.notMatch(host.output, 'X-Signature-Id')
  t.match(await admin(`subscriptions delete ${subscription.id} ${own} --yes`), { code: 0 })
  matchLists(t, await ask<SigningSecret[]>(`secrets list ${own} --direction outgoing`), [
    { provider: 'hooks.example.com', state: 'active' },
    { provider: subscription.id, state: 'revoked' },
  ])
})
