import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules as rulesPath, startApi } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

// What a person replays for some rules alone, with a real worker.
process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())

interface Outcome {
  triggered: number
  matched: number
  results: { ruleId: string; status: string; executionId: string | null; outranked?: { by: string } }[]
}
interface Event extends Outcome {
  id: string
  status: string
  replayOf: string | null
  chosenRules: string[] | null
}
interface Why {
  rules: { name: string; verdict: string; executionId: string | null; trace: object | null }[]
}

async function makeOwnWorkspace() {
  const workspace = await api.makeWorkspace()
  const { call, database } = workspace
  const read = async (id: string) => (await call<Event>('GET', `/api/events/${id}`)).body
  return {
    ...workspace,
    read,
    create: async (name: string, fields: object = {}) => {
      const actions = [{ type: 'CREATE_TASK', config: { title: `${name} {{name}}` } }]
      const { status, body } = await call<Rule>('POST', rulesPath, {
        body: ruleBody({ name, actions, ...fields }),
      })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body
    },
    post: async (data: object, type = 'LEAD_CREATED') => {
      const { body } = await call<Event>('POST', '/api/events', { body: { type, data } })
      return body.id
    },
    replay: (id: string, rules?: string[], headers: Record<string, string> = {}) =>
      call<Outcome>('POST', `/api/events/${id}/replay`, { body: rules && { rules }, headers }),
    why: async (id: string, query = '') =>
      (await call<Why>('GET', `/api/events/${id}/why${query}`)).body.rules,
    /** Of tasks, in the order in which they were made. */
    titles: async () => (await database.task.findMany()).map(({ title }) => title).sort(),
    untilDone: async (id: string) => {
      for (;;) {
        const event = await read(id)
        if (event.status === 'done') return event
        await delay(20)
      }
    },
  }
}

const idIn = (location: unknown) => String(location).split('/').at(-1) ?? ''
const of = (team: string) => [{ field: 'team', operator: 'equals', value: team }]

t.test('a replay of chosen rules runs them alone, and why says that the others were left out', async (t) => {
  const workspace = await makeOwnWorkspace()
  const first = await workspace.create('First')
  const second = await workspace.create('Second')
  const other = await workspace.create('Other', { conditions: of('south') })
  const eventId = await workspace.post({ name: 'Ada', team: 'north' })
  t.strictSame(await workspace.titles(), ['First Ada', 'Second Ada'])

  const answer = await workspace.replay(eventId, [other.id, second.id.toUpperCase(), second.id])
  t.equal(answer.status, 200)
  t.match(answer.body, { triggered: 3, matched: 1 })
  matchLists(t, answer.body.results, [
    { ruleId: first.id, success: true, status: 'left_out', conditionsPassed: false, executionId: null },
    { ruleId: second.id, status: 'succeeded' },
    { ruleId: other.id, status: 'not_matched' },
  ])
  t.strictSame(await workspace.titles(), ['First Ada', 'Second Ada', 'Second Ada'])

  const id = idIn(answer.headers['content-location'])
  const event = await workspace.read(id)
  t.match(event, { replayOf: eventId, ...answer.body })
  t.strictSame(event.chosenRules, [other.id, second.id])
  t.equal((await workspace.read(eventId)).chosenRules, null)
  matchLists(t, await workspace.why(id), [
    { name: 'Second', verdict: 'matched', executionId: String },
    { name: 'Other', verdict: 'not_matched' },
    { name: 'First', verdict: 'left_out', executionId: null, trace: { conditionsPassed: true } },
  ])
  matchLists(t, await workspace.why(id, `?ruleId=${first.id}`), [{ verdict: 'left_out' }])
  const eventsOf = async (ruleId: string) =>
    (await workspace.call<{ events: Event[] }>('GET', `/api/events?ruleId=${ruleId}`)).body.events
  matchLists(t, await eventsOf(first.id), [{ id: eventId }])
  matchLists(t, await eventsOf(second.id), [{ id, chosenRules: [other.id, second.id] }, { id: eventId }])
  matchLists(t, await workspace.database.auditEntry.findMany({ where: { subject: eventId } }), [
    { action: 'event.replayed', details: { eventId: id, rules: [other.id, second.id] } },
  ])
})

t.test('who is first in a group does not depend on the choice', async (t) => {
  const workspace = await makeOwnWorkspace()
  const group = 'routing'
  const pool = await workspace.create('Pool', { group, order: 20 })
  const north = await workspace.create('North', { group, order: 10, conditions: of('north') })
  const inNorth = await workspace.post({ name: 'Ada', team: 'north' })
  const elsewhere = await workspace.post({ name: 'Bob' })
  t.strictSame(await workspace.titles(), ['North Ada', 'Pool Bob'])

  const otherwise = await workspace.replay(inNorth, [pool.id])
  matchLists(t, otherwise.body.results, [
    { ruleId: pool.id, status: 'outranked', outranked: { by: north.id } },
    { ruleId: north.id, status: 'left_out' },
  ])
  const why = await workspace.why(idIn(otherwise.headers['content-location']))
  matchLists(t, why, [{ verdict: 'outranked' }, { verdict: 'left_out' }])
  t.match((await workspace.replay(elsewhere, [north.id])).body, { matched: 0 })
  t.strictSame(await workspace.titles(), ['North Ada', 'Pool Bob'], 'none of them is executed by hand')
  await workspace.replay(inNorth, [north.id])
  await workspace.replay(elsewhere, [pool.id])
  t.strictSame(await workspace.titles(), ['North Ada', 'North Ada', 'Pool Bob', 'Pool Bob'])
})

t.test('what a chosen rule remembers holds for a replay, too', async (t) => {
  const workspace = await makeOwnWorkspace()
  const perKey = { key: '{{name}}', atMost: { runs: 1, per: '7d' } }
  const limited = await workspace.create('Limited', { perKey })
  const free = await workspace.create('Free')
  const eventId = await workspace.post({ name: 'Ada' })
  const { body } = await workspace.replay(eventId, [limited.id])
  matchLists(t, body.results, [
    { ruleId: limited.id, status: 'suppressed' },
    { ruleId: free.id, status: 'left_out' },
  ])
  t.strictSame(await workspace.titles(), ['Free Ada', 'Limited Ada'])
})

t.test('the choice is that of one replay: a replay of it meets all rules', async (t) => {
  const workspace = await makeOwnWorkspace()
  const first = await workspace.create('First')
  await workspace.create('Second')
  const eventId = await workspace.post({ name: 'Ada' })
  const chosen = idIn((await workspace.replay(eventId, [first.id])).headers['content-location'])
  const answer = await workspace.replay(chosen)
  t.match(answer.body, { triggered: 2, matched: 2 })
  const again = await workspace.read(idIn(answer.headers['content-location']))
  t.match(again, { replayOf: chosen, chosenRules: null })
  const { body } = await workspace.replay(again.id, [first.id])
  t.match(body, { triggered: 2, matched: 1 })
})

t.test('a choice whose job was lost, and whose acceptor died, is kept in the row of its event', async (t) => {
  const workspace = await makeOwnWorkspace()
  const first = await workspace.create('First')
  const second = await workspace.create('Second')
  // As a process leaves it that is killed between the commit and the job: the sweeper finds the row.
  const { id } = await workspace.database.event.create({
    data: {
      id: newId(),
      workspaceId: workspace.id,
      type: 'LEAD_CREATED',
      data: { name: 'Ada' },
      replayOf: newId(),
      chosenRuleIds: [second.id],
    },
  })
  const event = await workspace.untilDone(id)
  matchLists(t, event.results, [
    { ruleId: first.id, status: 'left_out' },
    { ruleId: second.id, status: 'succeeded' },
  ])
  t.strictSame(await workspace.titles(), ['Second Ada'])
})

t.test('a replay of chosen rules is an event for which others wait', async (t) => {
  const workspace = await makeOwnWorkspace()
  const won = await workspace.create('Won', { trigger: 'DEAL_WON' })
  await workspace.create('Other', { trigger: 'DEAL_WON' })
  const old = await workspace.post({ name: 'Acme' }, 'DEAL_WON')
  const wait = { for: { eventType: 'DEAL_WON', match: { name: '{{name}}' }, then: 'go_on' }, duration: '1d' }
  const actions = [
    { type: 'WAIT', config: wait },
    { type: 'CREATE_TASK', config: { title: 'Waited for {{waited.name}}' } },
  ]
  await workspace.create('Waits', { actions })
  const waiting = await workspace.post({ name: 'Acme' })
  await workspace.replay(old, [won.id])
  t.match(await workspace.untilDone(waiting), { status: 'done' })
  t.strictSame(await workspace.titles(), ['Other Acme', 'Waited for Acme', 'Won Acme', 'Won Acme'])
})

t.test('a choice with a rule that would not meet the event is refused, and says why', async (t) => {
  const workspace = await makeOwnWorkspace()
  const other = await makeOwnWorkspace()
  const rule = await workspace.create('Rule')
  const off = await workspace.create('Off', { isActive: false })
  const won = await workspace.create('Won', { trigger: 'DEAL_WON' })
  const foreign = await other.create('Foreign')
  const eventId = await workspace.post({ name: 'Ada' })
  const events = await workspace.database.event.count()
  const missing = { status: 404, body: { error: 'Automation rule not found' } }
  for (const id of [newId(), foreign.id, 'x'])
    t.match(await workspace.replay(eventId, [rule.id, id]), missing, id)
  t.match(await workspace.replay(eventId, [won.id, rule.id, off.id]), {
    status: 422,
    body: {
      errors: [
        { field: 'rules[0]', message: 'Has the trigger DEAL_WON, and the event is LEAD_CREATED' },
        { field: 'rules[2]', message: 'Is inactive: switch it on, or execute it by hand' },
      ],
    },
  })
  for (const rules of [[], [rule.id, rule.id], Array(1_001).fill(rule.id)])
    t.match(await workspace.replay(eventId, rules), { status: 422, body: { errors: [{ field: 'rules' }] } })
  t.match(await workspace.replay(newId(), [rule.id]), { status: 404, body: { error: 'Event not found' } })
  t.equal(await workspace.database.event.count(), events, 'nothing was replayed')

  const byHand = await workspace.call('POST', `${rulesPath}/${off.id}/execute`, {
    body: { data: { name: 'Ada' } },
  })
  t.match(await workspace.replay(idIn(byHand.headers['content-location']), [off.id]), {
    status: 422,
    body: { errors: [{ field: 'rules[0]', message: 'Must be omitted: the event has one receiver' }] },
  })
})

t.test('a repeat under its key is the same replay, also when its rule is off by then', async (t) => {
  const workspace = await makeOwnWorkspace()
  const rule = await workspace.create('Rule')
  await workspace.create('Other')
  const eventId = await workspace.post({ name: 'Ada' })
  const key = { 'idempotency-key': newId() }
  const first = await workspace.replay(eventId, [rule.id], key)
  t.match(first, {
    status: 200,
    body: { matched: 1, results: [{ ruleId: rule.id }, { status: 'left_out' }] },
  })
  await workspace.call('PATCH', `${rulesPath}/${rule.id}`, { body: { isActive: false } })
  const again = await workspace.replay(eventId, [rule.id], key)
  t.match(again, { status: 200, headers: { 'idempotent-replayed': 'true' }, body: first.body })
  t.equal((await workspace.replay(eventId, undefined, key)).status, 422, 'another choice is another request')
  t.equal(await workspace.database.event.count({ where: { replayOf: eventId } }), 1)
})
