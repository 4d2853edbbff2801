import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { rules, startApi } from './fixtures/api.js'

const api = await startApi(t, {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
})
const when = (value: string) => ({ field: 'actions.ticket.outcome', operator: 'equals', value })
const ticket = {
  name: 'Ticket, or a task',
  trigger: 'FORM_SUBMITTED',
  actions: [
    {
      name: 'ticket',
      type: 'SEND_WEBHOOK',
      config: { url: 'https://x.io', capture: { number: 'body.number' } },
      continueOnError: true,
    },
    { type: 'CREATE_TASK', config: { title: 'Ticket {{captured.number}}' }, when: when('success') },
    { type: 'CREATE_TASK', config: { title: 'No ticket: {{actions.ticket.status}}' }, when: when('failed') },
  ],
}
type Saved = { id: string; version: number; actions: object[] }
type Outcome = { results: object[]; trace: { actions: object[] } }

t.test('names and captures are part of the definition, and an unknown one is refused', async (t) => {
  const { call } = await api.makeWorkspace()
  const { body: saved } = await call<Saved>('POST', rules, { body: ticket })
  t.match(saved.actions, [{ name: 'ticket', config: { capture: { number: 'body.number' } } }, {}, {}])
  const [first, ...rest] = ticket.actions
  const renamed = { ...first, config: { url: 'https://x.io', capture: { number: 'body.no' } } }
  const { body: changed } = await call<Saved>('PATCH', `${rules}/${saved.id}`, {
    body: { actions: [renamed, ...rest] },
  })
  t.equal(changed.version, saved.version + 1)
  const faulty = {
    ...first,
    name: '1 ticket',
    config: { url: 'https://x.io', capture: { 'a.b': 'body.id', x: 'id', y: 'headers' } },
  }
  const { status, body } = await call<{ errors: { field: string }[] }>('POST', rules, {
    body: { ...ticket, actions: [faulty, rest[0]] },
  })
  t.equal(status, 422)
  for (const [field, message] of [
    ['actions[0].name', /^Must begin with a letter/],
    ['actions[0].config.capture.x', /^Must be a path of the response/],
    ['actions[0].config.capture.y', /^Must be a path of the response/],
    ['actions[1].config.title', /no action captures number, but/],
    ['actions[1].when.field', /no action has the name ticket, but 1 ticket/],
  ] as const)
    t.match(
      body.errors.find((error) => error.field === field),
      { message },
      field,
    )
  const conditions = [{ field: 'captured.number', operator: 'exists' }]
  t.match(await call('POST', rules, { body: { ...ticket, conditions } }), {
    status: 422,
    body: { errors: [{ field: 'conditions[0].field', message: /before its actions/ }] },
  })
})

t.test('a dry run assumes what it is told, and a real one refuses to be told', async (t) => {
  const { call } = await api.makeWorkspace()
  const { body: saved } = await call<Saved>('POST', rules, { body: ticket })
  const run = (more: object) =>
    call<Outcome>('POST', `${rules}/${saved.id}/execute?explain=true`, {
      body: { data: {}, dryRun: true, ...more },
    })
  const { body: good } = await run({ captured: { number: 'T-1' } })
  matchLists(t, good.results, [{}, { config: { title: 'Ticket T-1' } }, { status: 'skipped' }])
  t.match(good.trace.actions[1], { when: { actual: 'success', verdict: true } })
  const { body: bad } = await run({ actions: { ticket: { outcome: 'failed', status: 503 } } })
  matchLists(t, bad.results, [{}, { status: 'skipped' }, { config: { title: 'No ticket: 503' } }])
  t.match(bad.trace.actions[1], { when: { actual: 'failed', verdict: false } })
  const refused = (body: object, field: string) =>
    call('POST', `${rules}/${saved.id}/execute`, { body: { data: {}, ...body } }).then((response) =>
      t.match(response, { status: 422, body: { errors: [{ field }] } }),
    )
  await refused({ captured: { number: 1 } }, 'captured')
  await refused({ dryRun: false, actions: {} }, 'actions')
  await refused({ dryRun: true, actions: { ticket: { outcome: 'skipped' } } }, 'actions.ticket.outcome')
})

t.test('a dry run of an event assumes what it is told, for each of its rules', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const name of ['One', 'Other']) await call('POST', rules, { body: { ...ticket, name } })
  const events = '/api/events'
  for (const [path, fields] of [
    [events, { eventType: ticket.trigger }],
    [`${rules}/trigger/${ticket.trigger}`, {}],
  ] as const) {
    const run = (more: object, query = '') =>
      call<{ results: Outcome[] }>('POST', `${path}${query}`, {
        body: { ...fields, data: {}, dryRun: true, ...more },
      })
    const { body: good } = await run({ captured: { number: 'T-1' } })
    const done = { results: [{}, { config: { title: 'Ticket T-1' } }, { status: 'skipped' }] }
    t.match(good.results, [done, done], path)
    const { body: bad } = await run(
      { actions: { ticket: { outcome: 'failed', status: 503 } } },
      '?explain=true',
    )
    t.match(bad.results[1]?.results[2], { config: { title: 'No ticket: 503' } })
    t.match(bad.results[1]?.trace.actions[1], { when: { actual: 'failed', verdict: false } })
    const refused = { status: 422, body: { errors: [{ field: 'captured' }] } }
    t.match(await run({ dryRun: false, captured: { number: 1 } }), refused)
  }
})
