import type { NewSubscription, SigningSecret, Subscription } from '@automation/access'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { startSite } from './fixtures/site.js'

const { database, openWorkspace } = await startSite()

t.test('a URL is subscribed, tested and unsubscribed, and a host has its outgoing secret', async (t) => {
  const { ask, client } = await openWorkspace('.')
  const made = await ask<NewSubscription>(
    'subscriptions create --url https://example.com/hooks --events rule.paused,execution.failed',
  )
  const { secret, ...subscription } = made
  t.match(secret, /^whsec_/)
  const other = await openWorkspace('.')
  const [list, ping, elsewhere, host] = await Promise.all([
    ask<Subscription[]>('subscriptions list'),
    ask<{ id: string }>(`subscriptions test ${subscription.id}`),
    other.client(`subscriptions delete ${subscription.id} --yes`),
    client('secrets create --direction outgoing --provider hooks.example.com'),
  ])
  t.same(list, [subscription])
  t.match(await database.system.event.findUnique({ where: { id: ping.id } }), {
    addresseeId: subscription.id,
  })
  t.match(elsewhere, { code: 1, errors: /404 subscription_not_found: Subscription not found/ })
  t.match(host.output, /^direction +outgoing$/m)
  t.match(await ask(`subscriptions update ${subscription.id} --no-active`), { isActive: false })
  t.match(await client(`subscriptions delete ${subscription.id} --yes`), { code: 0 })
  matchLists(t, await ask<SigningSecret[]>('secrets list --direction outgoing'), [
    { provider: 'hooks.example.com', state: 'active' },
    { provider: subscription.id, state: 'revoked' },
  ])
})
