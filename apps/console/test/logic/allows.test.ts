import t from 'tap'
import { type Allowed, allows } from '../../pages/logic/allows.js'

const rule = {
  trigger: 'LEAD_CREATED',
  actions: [
    { type: 'CREATE_TASK', config: { title: 'Call {{name}}' } },
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', data: {} } },
    { type: 'WAIT', config: { for: { eventType: 'DEAL_LOST' }, duration: '1h' } },
    { type: 'SEND_WEBHOOK', config: { url: 'https://x.example', headers: { a: '{{ credentials.CRM }}' } } },
  ],
}

t.test(
  'a rule that a session may change has only what is allowed; a part that is left out is not limited',
  async (t) => {
    const types = ['LEAD_CREATED', 'DEAL_WON', 'DEAL_LOST']
    const actions = rule.actions.map(({ type }) => type)
    const cases: [Allowed | undefined, boolean][] = [
      [undefined, true],
      [{}, true],
      [{ triggers: types, actions, credentials: ['CRM'] }, true],
      ...types.map((gone): [Allowed, boolean] => [{ triggers: types.filter((one) => one !== gone) }, false]),
      ...actions.map((gone): [Allowed, boolean] => [
        { actions: actions.filter((one) => one !== gone) },
        false,
      ]),
      [{ credentials: [] }, false],
      [{ credentials: ['OTHER'] }, false],
    ]
    for (const [allowed, isAllowed] of cases)
      t.equal(allows(allowed, rule), isAllowed, JSON.stringify(allowed))
    const noEmit = { ...rule, actions: [{ type: 'CREATE_TASK', config: { eventType: 'DEAL_WON' } }] }
    t.equal(allows({ triggers: ['LEAD_CREATED'] }, noEmit), true, 'a field of another action names no type')
  },
)
