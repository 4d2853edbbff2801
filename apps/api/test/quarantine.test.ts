import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { startApi } from './fixtures/api.js'
import { storeEvent, storeRule } from './fixtures/history.js'

const api = await startApi(t)
const given = { crashes: 5, quarantined: true }
const later = { prefer: 'respond-async' }
const reason = 'Quarantined: several workers crashed while they processed this event'

t.test('a quarantined event is presented and listed with that status only', async (t) => {
  const workspace = await api.makeWorkspace()
  const event = await storeEvent(workspace, given)
  const repeated = await storeEvent(workspace, { crashes: 2 })
  matchLists(t, (await workspace.call('GET', `/api/events/${event.id}`)).body, {
    status: 'quarantined',
    crashes: 5,
    triggered: 0,
    results: [],
  })
  t.match((await workspace.call('GET', `/api/events/${repeated.id}`)).body, { status: 'done', crashes: 2 })
  for (const [status, found] of [
    ['quarantined', { ...event, ...given }],
    ['done', repeated],
  ] as const) {
    const { body } = await workspace.call<{ events: object[] }>('GET', `/api/events?status=${status}`)
    matchLists(t, body.events, [{ id: found.id, status, crashes: found.crashes }], status)
    t.equal(body.events.length, 1)
  }
  for (const status of ['accepted', 'running'])
    t.strictSame((await workspace.call('GET', `/api/events?status=${status}`)).body, {
      events: [],
      nextCursor: null,
    })
})

t.test('a caller that waits learns that its event is quarantined', async (t) => {
  const workspace = await api.makeWorkspace()
  const event = await storeEvent(workspace, given)
  const repeated = await storeEvent(workspace, { crashes: 2 })
  const find = ({ id }: { id: string }) => api.app.findOutcome({ id, workspaceId: workspace.id })
  t.strictSame(await find(event), { evaluations: undefined, isQuarantined: true })
  t.strictSame(await find(repeated), { evaluations: [], isQuarantined: false })
})

t.test('an execution by hand with a quarantined event has failed, with the reason', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace)
  const event = await storeEvent(workspace, { ...given, ruleId: rule.id })
  const path = `/api/executions/${event.id}`
  matchLists(t, (await workspace.call('GET', path)).body, {
    id: event.id,
    ruleId: rule.id,
    status: 'failed',
    success: false,
    error: reason,
    results: [],
    startedAt: null,
    finishedAt: event.doneAt?.toISOString(),
  })
  t.match(await workspace.call('POST', `${path}/retry`), {
    status: 409,
    body: { error: 'This execution never started, because its event is quarantined: replay the event' },
  })
})

t.test('a quarantined event can be replayed, alone and in bulk, without its crashes', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await storeRule(workspace)
  for (const ruleId of [null, rule.id]) {
    const event = await storeEvent(workspace, { ...given, ruleId, data: { name: newId() } })
    const { status } = await workspace.call('POST', `/api/events/${event.id}/replay`, { headers: later })
    t.equal(status, 202)
    matchLists(t, await workspace.database.event.findMany({ where: { replayOf: event.id } }), [
      { data: event.data, addresseeId: ruleId, crashes: 0, quarantined: false, doneAt: null },
    ])
  }
  const body = { filter: {}, dryRun: false }
  t.match(await workspace.call('POST', '/api/events/replay', { body }), {
    status: 202,
    body: { matched: 2, replayed: 2 },
  })
})
