import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)

const awaiting = (path: string, eventType = 'DEAL_WON') =>
  ruleBody({
    actions: [
      {
        type: 'WAIT',
        config: { duration: '1d', for: { eventType, match: { [path]: '{{id}}' }, then: 'go_on' } },
      },
    ],
  })

t.test('a WAIT may not wait for what only the service makes', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const type of ['SCHEDULE', 'DECISION'])
    t.match(await call('POST', rules, { body: awaiting('id', type) }), {
      status: 422,
      body: { errors: [{ field: 'actions[0].config.for.eventType' }] },
    })
})

t.test(
  'the WAITs of a workspace match 50 sets of fields of a type, and further ones are refused',
  async (t) => {
    const { call } = await api.makeWorkspace()
    for (let n = 0; n < 50; n++)
      t.match(await call('POST', rules, { body: awaiting(`f${n}`) }), { status: 201 })
    const refused = await call('POST', rules, { body: awaiting('f50') })
    t.match(refused, { status: 409, headers: { 'x-error-code': 'limit_reached' } })
    t.match(await call('POST', rules, { body: awaiting('f49') }), { status: 201 }, 'a known one is none more')
    t.match(await call('POST', rules, { body: awaiting('f50', 'DEAL_LOST') }), { status: 201 })
  },
)
