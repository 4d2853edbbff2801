import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'
import { makeSender } from './fixtures/sender.js'

const api = await startApi(t)
const createdBy = 'user:ada'

t.test('every route that accepts events counts them for the creator of the workspace', async (t) => {
  const workspace = await api.makeWorkspace()
  await api.app.database.system.workspace.update({ where: { id: workspace.id }, data: { createdBy } })
  const { call } = workspace
  const { deliver } = await makeSender(api, workspace)
  const rule = await call<{ id: string }>('POST', rules, { body: ruleBody() })
  const headers = { prefer: 'respond-async' }
  const creators: unknown[] = []
  const share = api.app.queue.share.bind(api.app.queue)
  api.app.queue.share = (arrivals) => {
    creators.push(...arrivals.map(({ event }) => event.createdBy))
    return share(arrivals)
  }
  const body = { data: {} }
  const triggered = await call<{ id: string }>('POST', `${rules}/trigger/LEAD_CREATED`, { body, headers })
  const filter = { eventType: 'LEAD_CREATED' }
  const routes = {
    'a trigger': async () => triggered,
    'a rule by hand': () => call('POST', `${rules}/${rule.body.id}/execute`, { body, headers }),
    'a batch': () => call('POST', `${rules}/trigger/LEAD_CREATED/batch`, { body: { events: [body] } }),
    'a replay': () => call('POST', `/api/events/${triggered.body.id}/replay`, { headers }),
    'a bulk replay': async () => {
      await workspace.database.event.updateMany({ data: { doneAt: new Date() } })
      return call('POST', '/api/events/replay', { body: { filter, dryRun: false } })
    },
    'a webhook': () => deliver({}),
  }
  for (const [name, ask] of Object.entries(routes)) {
    t.equal((await ask()).status, 202, name)
    t.ok(creators.length > 0, name)
    t.strictSame(new Set(creators.splice(0)), new Set([createdBy]), name)
  }
})
