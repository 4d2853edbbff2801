import { createPrivateDatabase } from '@automation/launcher'
import { type ConsideredRule, findUnconsidered, listConsidered, readEvaluatedEvent } from '@automation/ledger'
import fc from 'fast-check'
import t from 'tap'
import { ruleBody, startApi, task, type Workspace } from './fixtures/api.js'
import { changeAsOlder, noteMissed } from './fixtures/older-api.js'
import { startWorker } from './fixtures/worker.js'

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())

const rulesPath = '/api/automation-rules'
const hot = { field: 'score', operator: 'greater_than', value: 80 }
const cold = { field: 'score', operator: 'less_than', value: 5 }

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<string> {
  const body = ruleBody({ actions: [task], ...fields })
  const response = await call<{ id: string }>('POST', rulesPath, { body })
  if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
  return response.body.id
}

async function trigger({ call, database }: Workspace, score = 10): Promise<string> {
  const { status } = await call('POST', `${rulesPath}/trigger/LEAD_CREATED`, { body: { data: { score } } })
  if (status !== 200) throw new Error(`The event got ${status}`)
  const event = await database.event.findFirstOrThrow({ orderBy: { id: 'desc' }, select: { id: true } })
  return event.id
}

/** What became of one rule for an event; undefined where the workspace is said to have no such rule. */
async function ask(
  workspace: Workspace,
  eventId: string,
  ruleId: string,
): Promise<ConsideredRule | undefined> {
  const event = await readEvaluatedEvent(workspace.database, workspace.id, eventId)
  if (event === undefined) throw new Error(`There is no event ${eventId}`)
  const considered = await listConsidered(workspace.database, event)
  return (
    considered.find((rule) => rule.ruleId === ruleId) ??
    (await findUnconsidered(workspace.database, event, ruleId))
  )
}

const note = () => noteMissed(api.app.database)

t.test(
  'an edit that an older API made is not known before it is noted, and then from its moment on',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const ruleId = await create(workspace, { conditions: [hot] })
    const other = await create(workspace, { name: 'Other', conditions: [hot] })
    const before = await trigger(workspace)
    await changeAsOlder(workspace, { kind: 'edit', ruleId, conditions: [cold] })
    const after = await trigger(workspace)
    t.match(await ask(workspace, before, ruleId), { verdict: 'not_matched', version: 1 })
    t.match(await ask(workspace, after, ruleId), { verdict: 'not_matched', version: null, conditions: null })
    t.match(await ask(workspace, after, other), { version: 1 }, 'a rule that it did not change is known')
    // This API makes a version of its own before anybody has noted the edit.
    await workspace.call('PUT', `${rulesPath}/${other}`, { body: { name: 'Renamed' } })
    await note()
    t.match(await ask(workspace, before, ruleId), { verdict: 'not_matched', version: 1 })
    t.match(await ask(workspace, after, ruleId), { verdict: 'not_matched', version: 2 })
    t.match(await ask(workspace, after, other), { version: 1 })
  },
)

t.test('of several changes by an older API, those in between stay unknown', async (t) => {
  const workspace = await api.makeWorkspace()
  const ruleId = await create(workspace, { conditions: [hot] })
  const other = await create(workspace, { name: 'Other', conditions: [hot] })
  await changeAsOlder(workspace, { kind: 'edit', ruleId, conditions: [cold] })
  const between = await trigger(workspace)
  await changeAsOlder(workspace, { kind: 'edit', ruleId, conditions: [hot, cold] })
  const after = await trigger(workspace)
  await note()
  t.match(await ask(workspace, between, ruleId), { verdict: 'not_matched', version: null })
  t.match(await ask(workspace, between, other), { version: 1 })
  t.match(await ask(workspace, after, ruleId), { version: 3 })
  const [gap] = await workspace.database.ruleStateGap.findMany()
  t.match(gap, { firstVersion: 3, lastVersion: 3 })
})

t.test(
  'a rule that an older API switched off, and on again, is not said to be active or inactive',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const ruleId = await create(workspace)
    await changeAsOlder(workspace, { kind: 'toggle', ruleId })
    const off = await trigger(workspace)
    t.match(await ask(workspace, off, ruleId), { verdict: 'not_known', version: null })
    await changeAsOlder(workspace, { kind: 'toggle', ruleId })
    t.match(await ask(workspace, off, ruleId), { verdict: 'not_known' })
    await note()
    t.match(await ask(workspace, off, ruleId), { verdict: 'not_known' })
    await changeAsOlder(workspace, { kind: 'toggle', ruleId })
    const offAgain = await trigger(workspace)
    await note()
    t.match(await ask(workspace, offAgain, ruleId), { verdict: 'inactive', version: 1 })
  },
)

t.test('a rule that an older API deleted is said to be deleted once that is noted', async (t) => {
  const workspace = await api.makeWorkspace()
  const ruleId = await create(workspace)
  const inactive = await create(workspace, { name: 'Off', isActive: false })
  const before = await trigger(workspace)
  for (const id of [ruleId, inactive]) await changeAsOlder(workspace, { kind: 'delete', ruleId: id })
  const after = await trigger(workspace)
  for (const id of [ruleId, inactive]) t.match(await ask(workspace, after, id), { verdict: 'not_known' })
  await note()
  for (const id of [ruleId, inactive]) t.match(await ask(workspace, after, id), { verdict: 'deleted' })
  t.match(await ask(workspace, before, ruleId), { verdict: 'matched', version: 1 })
  t.match(await ask(workspace, before, inactive), { verdict: 'inactive', version: 1 })
})

t.test(
  'why names an active rule that was not considered only where the emitting rule was switched off',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { database } = workspace
    const ruleId = await create(workspace)
    const id = await trigger(workspace)
    await database.execution.deleteMany()
    await database.event.updateMany({ where: { id }, data: { ruleSetId: null } })
    t.match(await ask(workspace, id, ruleId), { verdict: 'not_known' }, 'an event from outside meets all')
    await database.event.updateMany({ where: { id }, data: { rootId: id } })
    t.match(await ask(workspace, id, ruleId), { verdict: 'not_considered' })
  },
)

type Truth = Map<string, { version: number; isActive: boolean; trigger: string }>

const author = fc.constantFrom('older' as const, 'present' as const)
const type = fc.constantFrom('LEAD_CREATED', 'DEAL_WON')
const conditions = fc.constantFrom([], [hot], [cold])
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('event' as const), type, score: fc.nat(100) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('create' as const), author, trigger: type, conditions }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      author,
      pick: fc.nat(),
      trigger: type,
      conditions,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('toggle' as const), author, pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), author, pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('note' as const) }) },
)

t.test(
  'beside an older API, what why says for certain is true, over random changes and events',
  { skip: process.env.TEST_LONG ? false : 'only the long run has it' },
  async (t) => {
    const certain = new Set<string>()
    let known = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 70, size: 'max' }), async (steps) => {
        const workspace = await api.makeWorkspace()
        const { call, database } = workspace
        const truths = new Map<number, Truth>()
        const ids = new Set<string>()
        const remember = async () => {
          const { rulesVersion } = await database.workspace.findFirstOrThrow()
          const rules = await database.rule.findMany()
          for (const { id } of rules) ids.add(id)
          truths.set(rulesVersion, new Map(rules.map((rule) => [rule.id, rule])))
        }
        const underWay: Promise<unknown>[] = []
        await remember()
        for (const one of steps) {
          if (one.kind === 'note') await note()
          else if (one.kind === 'event') {
            const body = { data: { score: one.score } }
            underWay.push(call('POST', `${rulesPath}/trigger/${one.type}`, { body }))
            // Most events are evaluated before the next change, and some beside it.
            if (one.score % 4 > 0) await Promise.all(underWay)
          } else {
            const rules = await database.rule.findMany({ select: { id: true }, orderBy: { id: 'asc' } })
            const ruleId = one.kind === 'create' ? undefined : rules[one.pick % rules.length]?.id
            if (one.kind !== 'create' && ruleId === undefined) continue
            if (one.author === 'older')
              await changeAsOlder(workspace, { ruleId: '', ...one, ...(ruleId && { ruleId }) })
            else if (one.kind === 'create')
              await create(workspace, { trigger: one.trigger, conditions: one.conditions })
            else if (one.kind === 'edit')
              await call('PUT', `${rulesPath}/${ruleId}`, {
                body: { trigger: one.trigger, conditions: one.conditions },
              })
            else if (one.kind === 'toggle') await call('PATCH', `${rulesPath}/${ruleId}/toggle`)
            else await call('DELETE', `${rulesPath}/${ruleId}`)
            await remember()
          }
        }
        await Promise.all(underWay)
        await note()
        for (const { id, type, rulesVersion } of await database.event.findMany())
          for (const ruleId of ids) {
            const said = await ask(workspace, id, ruleId)
            if (said === undefined || said.verdict === 'not_known') continue
            const truth = truths.get(rulesVersion ?? -1)?.get(ruleId)
            const wasThere = [...truths].some(([at, rules]) => at < (rulesVersion ?? -1) && rules.has(ruleId))
            const expected = expect(truth, wasThere, type)
            if (!expected.includes(said.verdict))
              throw new Error(`${id} at ${rulesVersion}: ${ruleId} is ${said.verdict}, and was ${expected}`)
            if (said.version !== null && truth !== undefined && said.version !== truth.version)
              throw new Error(`${id} at ${rulesVersion}: ${ruleId} was ${truth.version}, not ${said.version}`)
            certain.add(said.verdict)
            if (said.version !== null) known += 1
          }
      }),
      { numRuns: process.env.TEST_LARGE ? 100 : 6, endOnFailure: true },
    )
    t.same(
      certain,
      new Set(['matched', 'not_matched', 'inactive', 'other_type', 'deleted', 'created_later']),
      'each verdict was seen',
    )
    t.ok(known > 100, `${known} versions were known`)
  },
)

function expect(truth: { isActive: boolean; trigger: string } | undefined, wasThere: boolean, type: string) {
  if (truth === undefined) return wasThere ? ['deleted'] : ['created_later']
  if (!truth.isActive) return ['inactive']
  return truth.trigger === type ? ['matched', 'not_matched'] : ['other_type']
}
