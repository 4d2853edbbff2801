import t from 'tap'
import { countEffects, describeAction } from '../../pages/logic/describe-action.js'

t.test('an action says what it was done with, and not only its type', async (t) => {
  t.strictSame(
    describeAction('CREATE_TASK', { title: 'Review Acme, 20 seats', dueIn: '24h', priority: 'high' }),
    {
      heading: 'Task: Review Acme, 20 seats',
      facts: [
        ['Due', 'in 24h'],
        ['Priority', 'high'],
      ],
    },
  )
  t.match(
    describeAction('SEND_EMAIL', { to: ['ada@example.com', 'bo@example.com'], subject: 'Hi', template: 'x' }),
    {
      heading: 'Email to ada@example.com, bo@example.com',
      facts: [
        ['Subject', 'Hi'],
        ['Template', 'x'],
      ],
    },
  )
  t.strictSame(
    describeAction('SEND_WEBHOOK', { url: 'https://a.example.com', method: 'PUT', body: { id: 1 } }),
    {
      heading: 'PUT https://a.example.com',
      facts: [],
      body: { id: 1 },
    },
  )
  t.strictSame(describeAction('SEND_WEBHOOK', { url: 'https://a.example.com' }).facts, [
    ['Body', 'the event'],
  ])
  t.equal(describeAction('WAIT', { duration: '3d' }).heading, 'Wait 3d')
  t.strictSame(describeAction('WAIT', { until: '2027-03-01', offset: '-3d' }), {
    heading: 'Wait until 2027-03-01',
    facts: [['Moved by', '-3d']],
  })
  const time = { days: 'mon-fri', from: '09:00', to: '17:00', timezone: 'Europe/Berlin' }
  t.strictSame(describeAction('WAIT', { duration: '3d', time }).facts, [
    ['Then', 'until it is every weekday, 09:00 to 17:00, in Europe/Berlin'],
  ])
  t.equal(describeAction('EMIT_EVENT', { eventType: 'DEAL_WON' }).heading, 'Event DEAL_WON')
  t.strictSame(describeAction('SEND_EMAIL', undefined), { heading: 'Send an email', facts: [] })
  t.strictSame(describeAction('constructor', {}), { heading: 'constructor', facts: [] })
})

t.test('what several rules would send is counted in words', async (t) => {
  t.equal(
    countEffects(['CREATE_TASK', 'SEND_EMAIL', 'SEND_WEBHOOK', 'SEND_EMAIL']),
    '2 emails, 1 call, 1 task',
  )
  t.equal(countEffects([]), '')
})
