import { newId } from '@automation/database'
import { exportRules } from '@automation/rules'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)
const statusAndBody = ({ status, body }: Answer) => ({ status, body })

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<Rule> {
  const { status, body } = await call<Rule>('POST', rules, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`The rule was not created: ${status} ${JSON.stringify(body)}`)
  return body
}

const put = ({ call }: Workspace, { id }: { id: string }, body: object) =>
  call<Rule>('PUT', `${rules}/${id}`, { body })

t.test('a rule is live unless it is created as a shadow, which is inactive', async (t) => {
  const workspace = await api.makeWorkspace()
  t.match(await create(workspace), { mode: 'live', isActive: true })
  t.match(await create(workspace, { isActive: false }), { mode: 'live', isActive: false })
  t.match(await create(workspace, { mode: 'live' }), { mode: 'live', isActive: true })
  t.match(await create(workspace, { mode: 'shadow' }), { mode: 'shadow', isActive: false })
  t.match(await create(workspace, { mode: 'shadow', isActive: false }), { mode: 'shadow', isActive: false })
  const both = await workspace.call('POST', rules, { body: ruleBody({ mode: 'shadow', isActive: true }) })
  t.strictSame(statusAndBody(both), {
    status: 422,
    body: { errors: [{ field: 'isActive', message: 'A rule in shadow mode is not active' }] },
  })
  const unknown = await workspace.call('POST', rules, { body: ruleBody({ mode: 'ghost' }) })
  t.equal(unknown.status, 422)
  const validated = await workspace.call<{ rule: object }>('POST', `${rules}/validate`, {
    body: ruleBody({ mode: 'shadow' }),
  })
  t.match(validated.body.rule, { mode: 'shadow', isActive: false })
})

t.test('a shadow becomes live by an update that says so, and nothing else activates it', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { mode: 'shadow' })
  const toggled = await workspace.call('PATCH', `${rules}/${rule.id}/toggle`)
  t.equal(toggled.status, 409)
  const activated = await put(workspace, rule, { isActive: true })
  t.strictSame(statusAndBody(activated), {
    status: 422,
    body: { errors: [{ field: 'isActive', message: 'The rule is in shadow mode: also set mode to live' }] },
  })
  t.match((await put(workspace, rule, { name: 'Renamed', isActive: false })).body, {
    mode: 'shadow',
    version: 2,
  })
  t.match((await put(workspace, rule, { mode: 'live' })).body, { mode: 'live', isActive: false, version: 2 })
  t.match((await put(workspace, rule, { mode: 'shadow' })).body, { mode: 'shadow' })
  t.match((await put(workspace, rule, { mode: 'live', isActive: true })).body, {
    mode: 'live',
    isActive: true,
  })
  t.match((await put(workspace, rule, { mode: 'shadow' })).body, {
    mode: 'shadow',
    isActive: false,
    version: 2,
  })
})

t.test('a shadow does nothing: it is evaluated in dry runs alone', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, { mode: 'shadow' })
  const path = `${rules}/${rule.id}/execute`
  const dry = await workspace.call('POST', path, { body: { data: {}, dryRun: true } })
  t.match(dry, { status: 200, body: { conditionsPassed: true } })
  t.equal((await workspace.call('POST', path, { body: { data: {} } })).status, 409)
  const event = await workspace.call('POST', `${rules}/trigger/LEAD_CREATED`, {
    body: { data: {}, dryRun: true },
  })
  t.match(event.body, { triggered: 0 })
  t.equal(await workspace.database.event.count(), 0)
})

t.test('shadows are listed, counted as inactive, and found by their mode', async (t) => {
  const workspace = await api.makeWorkspace()
  const live = await create(workspace)
  const shadow = await create(workspace, { mode: 'shadow' })
  const listed = async (query: string) =>
    (await workspace.call<{ rules: Rule[] }>('GET', `${rules}${query}`)).body.rules.map(({ id }) => id)
  t.strictSame(await listed(''), [shadow.id, live.id])
  t.strictSame(await listed('?mode=shadow'), [shadow.id])
  t.strictSame(await listed('?mode=live'), [live.id])
  t.strictSame(await listed('?isActive=false'), [shadow.id])
  t.equal((await workspace.call('GET', `${rules}?mode=ghost`)).status, 400)
  const health = await workspace.call('GET', `${rules}/health`)
  t.match(health.body, { totalRules: 2, activeRules: 1, inactiveRules: 1 })
  const clone = await workspace.call('POST', `${rules}/${shadow.id}/clone`)
  t.match(clone.body, { mode: 'shadow', isActive: false })
})

t.test('a shadow is explained as inactive, with its trace', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, {
    mode: 'shadow',
    conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
  })
  const { rulesVersion = 0 } = (await workspace.database.workspace.findFirst()) ?? {}
  const id = newId()
  await workspace.database.event.create({
    data: {
      id,
      workspaceId: workspace.id,
      type: 'LEAD_CREATED',
      data: { score: 90 },
      doneAt: new Date(),
      rulesVersion,
    },
  })
  const why = await workspace.call<{ rules: object[] }>('GET', `/api/events/${id}/why?ruleId=${rule.id}`)
  t.match(why.body.rules, [{ ruleId: rule.id, verdict: 'inactive', trace: { conditionsPassed: true } }])
})

t.test('executions that wait are cancelled where their rule becomes a shadow', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const isActive of [true, false]) {
    const rule = await create(workspace, { isActive })
    const id = newId()
    await workspace.database.execution.create({
      data: {
        id,
        workspaceId: workspace.id,
        eventId: id,
        eventType: 'LEAD_CREATED',
        handlerId: rule.id,
        ruleVersion: 1,
        status: 'waiting',
        results: [],
        startedAt: new Date(),
        dueAt: new Date(Date.now() + 60_000),
      },
    })
    await put(workspace, rule, { mode: 'shadow' })
    const { status } = await workspace.database.execution.findFirstOrThrow({ where: { id } })
    t.equal(status, 'cancelled', isActive ? 'of an active rule' : 'begun by hand')
    t.equal((await workspace.call('POST', `/api/executions/${id}/retry`)).status, 409)
  }
})

t.test('an export names the mode of a shadow, and of no other rule', async (t) => {
  const workspace = await api.makeWorkspace()
  await create(workspace, { name: 'Live' })
  await create(workspace, { name: 'Shadow', mode: 'shadow' })
  const { rules: exported } = await exportRules(workspace.database)
  t.match(exported, [
    { name: 'Live', isActive: true },
    { name: 'Shadow', isActive: false, mode: 'shadow' },
  ])
  t.notOk('mode' in (exported[0] ?? {}))
})
