import { checkRules, type ObservedFields } from '@automation/check'
import type { CheckedRule } from '@automation/engine'
import t from 'tap'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const when = (value: string) => ({ field: 'actions.ticket.outcome', operator: 'equals', value })
const ticket = {
  name: 'Ticket, or a task',
  trigger: 'FORM_SUBMITTED',
  conditions: [{ field: 'subject', operator: 'exists' }],
  actions: [
    {
      name: 'ticket',
      type: 'SEND_WEBHOOK',
      config: { url: 'https://x.io/tickets', capture: { number: 'body.number' } },
      continueOnError: true,
    },
    {
      type: 'SEND_EMAIL',
      config: { to: '{{email}}', subject: 'Ticket {{captured.number}}', template: 'ticket' },
      when: when('success'),
    },
    { type: 'CREATE_TASK', config: { title: 'Status {{actions.ticket.status}}' }, when: when('failed') },
  ],
} as CheckedRule
t.test('what depends on a response is not known to the check, and is no finding', async (t) => {
  const twin = { ...ticket, name: 'Twin', conditions: [{ field: 'score', operator: 'exists' }] }
  const observed: ObservedFields = {
    events: 1_000,
    hasMorePaths: false,
    fields: ['subject', 'email', 'score'].map((path) => ({
      path,
      kinds: ['text'],
      kindCounts: { text: 1_000 },
      share: 1,
      distinct: 900,
      isDistinctAtLeast: false,
      top: [],
    })) as never,
  }
  const { findings, notKnown } = checkRules([ticket, twin as CheckedRule], {
    now,
    findObserved: () => observed,
  })
  t.strictSame(
    findings.filter(({ code }) => code !== 'overlap').map(({ code, message }) => [code, message]),
    [],
  )
  t.notOk(
    findings.some(({ path }) => /actions\[[12]\]/.test(path)),
    'what two rules do with two tickets is not the same',
  )
  t.match(
    notKnown.find(({ path }) => path === 'actions[1].when'),
    { code: 'unreachable_action', reason: /on an earlier action/ },
  )
})

t.test('the same paths are fields of the event in a rule that declares nothing', async (t) => {
  const [call, mail] = ticket.actions as [object, object]
  const plain = { ...ticket, actions: [{ ...call, name: undefined, config: { url: 'https://x.io' } }, mail] }
  const never = {
    ...plain,
    conditions: [{ field: 'actions.ticket.outcome', operator: 'equals', value: 'failed' }],
  }
  const { findings } = checkRules([never as unknown as CheckedRule], { now })
  t.match(findings, [{ code: 'unreachable_action', path: 'actions[1].when' }])
})
