import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)

const schedule = { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' }
const scheduled = (fields: object = {}) => ruleBody({ trigger: 'SCHEDULE', schedule, ...fields })

interface Ticks {
  nextRunAt: string | null
  isActive: boolean
  next: { scheduledAt: string; localTime: string; clockChange: string | null }[]
}

async function create({ call }: Workspace, fields: object = {}): Promise<Rule> {
  const { status, body } = await call<Rule>('POST', rules, { body: scheduled(fields) })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

t.test('a schedule is part of the definition, and the rule says when it runs next', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const rule = await create(workspace)
  t.match(rule, { trigger: 'SCHEDULE', schedule, version: 1 })
  t.match(rule.nextRunAt, /T0[78]:00:00\.000Z$/)
  t.match((await call<Rule>('GET', `${rules}/${rule.id}`)).body, { schedule, nextRunAt: rule.nextRunAt })
  t.match((await call<{ rules: Rule[] }>('GET', rules)).body.rules, [{ schedule, nextRunAt: rule.nextRunAt }])
  const renamed = await call<Rule>('PUT', `${rules}/${rule.id}`, { body: { name: 'Other' } })
  t.match(renamed.body, { schedule, nextRunAt: rule.nextRunAt, version: 2 })
  const changed = await call<Rule>('PUT', `${rules}/${rule.id}`, { body: { schedule: { every: '15m' } } })
  t.match(changed.body, { schedule: { every: '15m' }, version: 3 })
  t.match(changed.body.nextRunAt, /T..:(?:00|15|30|45):00\.000Z$/)
  const stale = await call('PUT', `${rules}/${rule.id}`, {
    body: { schedule },
    headers: { 'if-match': '"2"' },
  })
  t.equal(stale.status, 412)
  t.match((await call('GET', `${rules}/${rule.id}/versions/1`)).body, { schedule })
  const off = await call<Rule>('PUT', `${rules}/${rule.id}`, { body: { isActive: false } })
  t.match(off.body, { nextRunAt: null, version: 3 })
})

t.test('a clone has the schedule and is off; a shadow and a draft have no ticks', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const rule = await create(workspace)
  const clone = await call<Rule>('POST', `${rules}/${rule.id}/clone`)
  t.match(clone.body, { schedule, isActive: false, nextRunAt: null })
  const on = await call<{ isActive: boolean }>('POST', `${rules}/${clone.body.id}/activate`)
  t.equal(on.status, 200)
  t.not((await call<Rule>('GET', `${rules}/${clone.body.id}`)).body.nextRunAt, null)
  t.match(await create(workspace, { mode: 'shadow' }), { nextRunAt: null, isActive: false })
  const draft = await call('PUT', `${rules}/${rule.id}/draft`, {
    body: scheduled({ schedule: { every: '1h' } }),
  })
  t.match(draft.body, { schedule: { every: '1h' } })
  t.match((await call<Rule>('GET', `${rules}/${rule.id}`)).body, { schedule, nextRunAt: rule.nextRunAt })
  const promoted = await call<Rule>('POST', `${rules}/${rule.id}/draft/promote`)
  t.match(promoted.body, { schedule: { every: '1h' }, version: 2 })
  t.match(promoted.body.nextRunAt, /T..:00:00\.000Z$/)
})

t.test('a schedule and its trigger stand together', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const refused: [object, object[]][] = [
    [
      ruleBody({ trigger: 'SCHEDULE' }),
      [{ field: 'schedule', message: 'Required with the trigger SCHEDULE' }],
    ],
    [
      ruleBody({ schedule }),
      [{ field: 'schedule', message: 'Must be omitted unless the trigger is SCHEDULE' }],
    ],
    [
      scheduled({ group: 'a', order: 1 }),
      [{ field: 'group', message: 'Must be omitted with the trigger SCHEDULE' }],
    ],
    [
      scheduled({ schedule: { cron: '0 0 30 2 *', timezone: 'Nowhere' } }),
      [
        { field: 'schedule.cron', message: 'Must match a date: this day does not exist' },
        { field: 'schedule.timezone', message: 'Must be an IANA time zone such as Europe/Berlin' },
      ],
    ],
    [
      scheduled({ schedule: { evry: '1h' } }),
      [{ field: 'schedule.evry', message: 'Unknown field. Nearest: every' }],
    ],
  ]
  for (const [body, errors] of refused) {
    const response = await call<{ errors: object[] }>('POST', rules, { body })
    t.equal(response.status, 422)
    for (const error of errors)
      t.ok(
        response.body.errors.some((one) => JSON.stringify(one) === JSON.stringify(error)),
        JSON.stringify([error, response.body]),
      )
  }
  const rule = await create(workspace)
  const path = `${rules}/${rule.id}`
  t.equal((await call('PUT', path, { body: { schedule: null } })).status, 422)
  t.equal((await call('PUT', path, { body: { schedule: { every: '10s' } } })).status, 422)
  const left = await call<Rule>('PUT', path, { body: { trigger: 'LEAD_CREATED' } })
  t.match(left.body, { trigger: 'LEAD_CREATED', schedule: null, nextRunAt: null })
})

t.test('nobody can send what only the service makes', async (t) => {
  const { call } = await api.makeWorkspace()
  for (const type of ['SCHEDULE', 'DECISION']) {
    const invalid = { error: 'Invalid trigger type' }
    const sent = await call('POST', `${rules}/trigger/${type}`, { body: { data: {} } })
    t.equal(sent.status, 400)
    t.match(sent.body, invalid)
    t.match(await call('POST', '/api/events', { body: { type, data: {} } }), { status: 400, body: invalid })
    t.match(await call('POST', `${rules}/trigger/${type}/batch`, { body: { events: [{ data: {} }] } }), {
      status: 400,
    })
    t.match(await call('POST', '/api/event-types', { body: { name: type } }), { status: 400, body: invalid })
    const emitting = ruleBody({ actions: [{ type: 'EMIT_EVENT', config: { eventType: type } }] })
    t.match(await call('POST', rules, { body: emitting }), {
      status: 422,
      body: { errors: [{ field: 'actions[0].config.eventType', message: /Only the service makes/ }] },
    })
    const batch = await call('POST', '/api/events/batch', { body: { events: [{ type, data: {} }] } })
    t.match(batch.body, { results: [{ errors: [{ field: 'events[0].eventType' }] }] })
  }
  t.match(await call('POST', rules, { body: ruleBody({ trigger: 'DECISION' }) }), { status: 400 })
})

t.test('the next ticks have their local time, and say what changes of the clocks mean', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const rule = await create(workspace, { schedule: { cron: '30 2 * 3,10 0', timezone: 'Europe/Berlin' } })
  const { status, body } = await call<Ticks>('GET', `${rules}/${rule.id}/schedule?next=12`)
  t.equal(status, 200)
  t.equal(body.next.length, 12)
  t.equal(body.next[0]?.scheduledAt, rule.nextRunAt)
  const odd = body.next.filter(({ clockChange }) => clockChange !== null)
  t.ok(odd.length >= 1, 'a Sunday on which the clocks are changed is among them')
  for (const { clockChange, localTime } of odd) {
    if (localTime.slice(5, 7) === '03') {
      t.equal(clockChange, '02:30 does not exist on this day: clocks go from 02:00 to 03:00')
      t.match(localTime, /T03:00:00\.000\+02:00$/)
    } else {
      t.match(clockChange, /^The clock shows 02:30 twice on this day, and this is the first time/)
      t.match(localTime, /T02:30:00\.000\+02:00$/)
    }
  }
  const plain = await call<Rule>('POST', rules, { body: ruleBody() })
  t.match(await call('GET', `${rules}/${plain.body.id}/schedule`), {
    status: 404,
    body: { error: 'The rule has no schedule' },
  })
  t.equal((await call('GET', `${rules}/${rule.id}/schedule?next=101`)).status, 400)
})

t.test('a rule with a schedule is validated and executed by hand as any other', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  t.match(await call('POST', `${rules}/validate`, { body: scheduled() }), {
    status: 200,
    body: { rule: { schedule } },
  })
  const rule = await create(workspace)
  const dryRun = await call('POST', `${rules}/${rule.id}/execute`, {
    body: { data: { missed: 0 }, dryRun: true },
  })
  t.match(dryRun.body, { success: true, dryRun: true })
})
