import { findUnconsidered, readEvaluatedEvent } from '@automation/history'
import { createPrivateDatabase } from '@automation/launcher'
import fc from 'fast-check'
import t from 'tap'
import { evaluatorLimits } from '../src/evaluation/evaluator.js'
import { ruleBody, startApi, task, type Workspace } from './fixtures/api.js'
import { startWorker } from './fixtures/worker.js'

interface RuleWhy {
  ruleId: string
  name: string | null
  version: number | null
  verdict: string
  executionId: string | null
  decisive: string[]
  trace: { conditionsPassed: boolean; conditions: object[] } | null
  change: { field: string; to: unknown }[] | null
}
interface Why {
  eventId: string
  type: string
  judgedAt: string | null
  rules: RuleWhy[]
  nextCursor: string | null
}
interface Rule {
  id: string
  version: number
  isActive: boolean
}

process.env.DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
// A page is whole however busy the machine is.
const api = await startApi(t)
await startWorker(t, api.config, t.testdir())

const rulesPath = '/api/automation-rules'
const hot = { field: 'score', operator: 'greater_than', value: 80 }
const fresh = { field: 'status', operator: 'equals', value: 'new' }

async function create({ call }: Workspace, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await call<Rule>('POST', rulesPath, { body: ruleBody(fields) })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.id
}

/** Posts an event and waits for it. @returns its id */
async function trigger({ call, database }: Workspace, data: object, type = 'LEAD_CREATED'): Promise<string> {
  const { status } = await call('POST', `${rulesPath}/trigger/${type}`, { body: { data } })
  if (status !== 200) throw new Error(`The event got ${status}`)
  const [event] = await database.event.findMany({ orderBy: { id: 'desc' }, take: 1, select: { id: true } })
  return event?.id ?? ''
}

async function why({ call }: Workspace, eventId: string, query = ''): Promise<Why> {
  const { status, body } = await call<Why>('GET', `/api/events/${eventId}/why?${query}`)
  if (status !== 200) throw new Error(`Why got ${status} ${JSON.stringify(body)}`)
  return body
}

t.test('why says for each rule whether it matched, and what stood in the way', async (t) => {
  const workspace = await api.makeWorkspace()
  const far = await create(workspace, { name: 'Far', conditions: [hot, fresh] })
  const near = await create(workspace, { name: 'Near', conditions: [hot] })
  const matching = await create(workspace, { name: 'Matching' })
  const id = await trigger(workspace, { score: 10, statu: 'old' })
  const { rules, ...event } = await why(workspace, id)
  const stored = await workspace.database.event.findFirstOrThrow({ where: { id } })
  t.same(event, {
    eventId: id,
    type: 'LEAD_CREATED',
    eventType: 'LEAD_CREATED',
    judgedAt: stored.acceptedAt.toISOString(),
    isPending: false,
    nextCursor: null,
  })
  t.match(rules, [
    {
      ruleId: matching,
      name: 'Matching',
      version: 1,
      verdict: 'matched',
      decisive: { length: 0 },
      change: null,
    },
    {
      ruleId: near,
      verdict: 'not_matched',
      executionId: null,
      decisive: ['conditions[0]'],
      change: [{ field: 'score', from: 10, to: 80.01 }],
      trace: { conditions: [{ actual: 10, expected: 80, distance: 70 }] },
    },
    {
      ruleId: far,
      decisive: ['conditions[0]', 'conditions[1]'],
      trace: { conditions: [{ distance: 70 }, { didYouMean: 'statu' }] },
    },
  ])
  t.ok(rules[0]?.executionId)
})

t.test(
  'an event is explained with the rules as they were, even if they were changed or deleted since',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call } = workspace
    const edited = await create(workspace, { name: 'Edited', conditions: [hot] })
    const deleted = await create(workspace, { name: 'Deleted', conditions: [fresh] })
    const off = await create(workspace, { name: 'Off' })
    const id = await trigger(workspace, { score: 10 })
    await call('PUT', `${rulesPath}/${edited}`, { body: { conditions: [], name: 'Renamed' } })
    await call('DELETE', `${rulesPath}/${deleted}`)
    await call('PATCH', `${rulesPath}/${off}/toggle`)
    const later = await create(workspace, { name: 'Later' })
    const { rules } = await why(workspace, id)
    t.match(rules, [
      { ruleId: off, verdict: 'matched', version: 1 },
      { ruleId: edited, name: 'Renamed', verdict: 'not_matched', version: 1, decisive: ['conditions[0]'] },
      { ruleId: deleted, name: 'Deleted', verdict: 'not_matched', version: 1, change: [{ field: 'status' }] },
    ])
    const next = await trigger(workspace, { score: 10 })
    const verdicts = async (event: string, rule: string) =>
      (await why(workspace, event, `ruleId=${rule}`)).rules
    t.match(await verdicts(next, edited), [{ verdict: 'matched', version: 2 }])
    t.match(await verdicts(next, deleted), [{ verdict: 'deleted', trace: null }])
    t.match(await verdicts(next, off), [{ verdict: 'inactive', trace: { conditionsPassed: true } }])
    t.match(await verdicts(id, later), [{ verdict: 'created_later', version: null }])
    const other = await create(workspace, { name: 'Other', trigger: 'DEAL_WON' })
    t.match(await verdicts(await trigger(workspace, {}), other), [{ verdict: 'other_type' }])
  },
)

t.test(
  'an execution that was retried with the latest version is explained in the one that it met',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call, database } = workspace
    const actions = [{ type: 'CREATE_TASK', config: { title: '{{name}}' } }]
    const rule = await create(workspace, { conditions: [hot], actions })
    const id = await trigger(workspace, { score: 90 })
    const failed = await database.execution.findFirstOrThrow({ where: { eventId: id } })
    t.equal(failed.status, 'failed')
    await call('PUT', `${rulesPath}/${rule}`, { body: { conditions: [fresh], actions: [task] } })
    await call('POST', `/api/executions/${failed.id}/retry`, { body: { version: 'latest' } })
    for (let status = ''; status !== 'succeeded'; )
      ({ status } = await database.execution.findFirstOrThrow({ where: { eventId: id } }))
    t.match((await why(workspace, id)).rules, [
      { ruleId: rule, verdict: 'matched', version: 1, trace: { conditionsPassed: true } },
    ])
  },
)

t.test('pages of rules are whole and in one order, and a cursor of another event is refused', async (t) => {
  const workspace = await api.makeWorkspace()
  for (let index = 0; index < 7; index++)
    await create(workspace, { name: `Rule ${index}`, conditions: index % 2 === 0 ? [hot] : [hot, fresh] })
  const id = await trigger(workspace, {})
  const whole = await why(workspace, id)
  const pages: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Why = await why(workspace, id, `limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
    pages.push(...page.rules.map(({ ruleId }) => ruleId))
    cursor = page.nextCursor
  }
  t.same(
    pages,
    whole.rules.map(({ ruleId }) => ruleId),
  )
  const { nextCursor } = await why(workspace, id, 'limit=1')
  const other = await trigger(workspace, {})
  for (const wrong of [nextCursor, 'x', Buffer.from('[]').toString('base64url')])
    t.match(await workspace.call('GET', `/api/events/${other}/why?cursor=${wrong}`), { status: 400 })
})

t.test('unknown events and rules are 404, and those of another workspace too', async (t) => {
  const [workspace, stranger] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const rule = await create(stranger)
  const event = await trigger(stranger, {})
  const own = await trigger(workspace, {})
  const ask = (path: string) => workspace.call('GET', `/api/events/${path}`)
  t.match(await ask(`${event}/why`), { status: 404, body: { error: 'Event not found' } })
  t.match(await ask('x/why'), { status: 404 })
  t.match(await ask(`${own}/why?ruleId=${rule}`), {
    status: 404,
    body: { error: 'Automation rule not found' },
  })
  t.match(await ask(`${own}/why?ruleId=x`), { status: 400 })
  t.match(await workspace.callAs('viewer')('GET', `/api/events/${own}/why`), { status: 200 })
})

t.test('conditions are evaluated at the moment of acceptance, however late a worker is', async (t) => {
  const workspace = await api.makeWorkspace()
  const rule = await create(workspace, {
    conditions: [{ field: 'at', operator: 'within_last', value: '1h' }],
  })
  const acceptedAt = new Date(Date.now() - 3 * 60 * 60_000)
  const at = new Date(acceptedAt.getTime() - 30 * 60_000)
  const id = `${Date.now().toString(16).padStart(12, '0')}`
  const eventId = `${id.slice(0, 8)}-${id.slice(8)}-7000-8000-0123456789ab`
  await workspace.database.event.create({
    data: {
      id: eventId,
      workspaceId: workspace.id,
      type: 'LEAD_CREATED',
      data: { at: at.toISOString() },
      acceptedAt,
    },
  })
  // The sweeper finds it.
  let executions = 0
  while (executions === 0)
    executions = await workspace.database.execution.count({ where: { handlerId: rule, eventId } })
  t.match(await why(workspace, eventId), {
    judgedAt: acceptedAt.toISOString(),
    rules: [{ verdict: 'matched', trace: { conditionsPassed: true } }],
  })
})

const clause = fc.oneof(
  fc.record({
    field: fc.constantFrom('score', 'lead.score'),
    operator: fc.constantFrom('greater_than', 'less_than', 'equals'),
    value: fc.integer({ min: 0, max: 5 }),
  }),
  fc.record({
    field: fc.constantFrom('status', 'tag'),
    operator: fc.constant('equals'),
    value: fc.constantFrom('a', 'b'),
  }),
  fc.record({
    field: fc.constant('at'),
    operator: fc.constant('within_last'),
    value: fc.constantFrom('1s', '1h'),
  }),
)
const condition = fc.oneof(
  clause,
  fc.record({ any: fc.array(clause, { minLength: 1, maxLength: 2 }) }),
  fc.record({ not: clause }),
)
const conditions = fc.array(condition, { maxLength: 2 })
const data = fc.record(
  {
    score: fc.integer({ min: 0, max: 5 }),
    lead: fc.record({ score: fc.integer({ min: 0, max: 5 }) }),
    status: fc.constantFrom('a', 'b'),
    at: fc.constantFrom(0, 500, 1_500, 100_000),
  },
  { requiredKeys: [] },
)
const type = fc.constantFrom('LEAD_CREATED', 'DEAL_WON')
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('event' as const), type, data }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('create' as const), trigger: type, conditions }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('edit' as const), pick: fc.nat(), trigger: type, conditions }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('toggle' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), pick: fc.nat() }) },
)

t.test(
  'why names an active rule that was not considered only where the emitting rule was switched off',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { database } = workspace
    const ruleId = await create(workspace)
    const id = await trigger(workspace, {})
    await database.execution.deleteMany()
    await database.event.updateMany({ where: { id }, data: { ruleSetId: null } })
    const ask = async () => (await why(workspace, id, `ruleId=${ruleId}`)).rules
    t.match(await ask(), [{ verdict: 'not_known' }], 'an event from outside meets all')
    await database.event.updateMany({ where: { id }, data: { rootId: id } })
    t.match(await ask(), [{ verdict: 'not_considered' }])
  },
)

/** All rules of a workspace, by the `rulesVersion` that each change of rules has made. */
type History = Map<number, Map<string, { isActive: boolean; trigger: string }>>

async function remember({ database }: Workspace, history: History): Promise<void> {
  const { rulesVersion } = await database.workspace.findFirstOrThrow()
  const rules = await database.rule.findMany()
  history.set(rulesVersion, new Map(rules.map((rule) => [rule.id, rule])))
}

/** What was the matter with a rule that was not considered. */
function expectVerdict(
  history: History,
  { rulesVersion, type }: { rulesVersion: number; type: string },
  ruleId: string,
) {
  const then = history.get(rulesVersion)?.get(ruleId)
  if (then !== undefined)
    return then.isActive ? (then.trigger === type ? 'considered' : 'other_type') : 'inactive'
  const wasThere = [...history].some(([at, rules]) => at < rulesVersion && rules.has(ruleId))
  return wasThere ? 'deleted' : 'created_later'
}

t.test(
  'why agrees with what happened, over random rules, edits, toggles, deletions and events',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60, size: 'max' }), async (steps) => {
        const workspace = await api.makeWorkspace()
        const { call, database } = workspace
        const rules: string[] = []
        const history: History = new Map()
        await remember(workspace, history)
        const pickRule = (pick: number) => rules[pick % rules.length]
        const underWay: Promise<unknown>[] = []
        for (const one of steps) {
          if (one.kind === 'create') {
            const { trigger, conditions } = one
            rules.push(
              await create(workspace, { name: `R ${rules.length}`, trigger, conditions, actions: [task] }),
            )
            await remember(workspace, history)
            continue
          }
          if (one.kind === 'event') {
            const at = one.data.at === undefined ? {} : { at: Date.now() - one.data.at }
            const body = { data: { ...one.data, ...at } }
            // Not waited for: events and changes overlap.
            underWay.push(call('POST', `${rulesPath}/trigger/${one.type}`, { body }))
            continue
          }
          const id = pickRule(one.pick)
          if (id === undefined) continue
          if (one.kind === 'edit') {
            const { trigger, conditions } = one
            await call('PUT', `${rulesPath}/${id}`, { body: { trigger, conditions } })
          } else if (one.kind === 'toggle') await call('PATCH', `${rulesPath}/${id}/toggle`)
          else {
            await call('DELETE', `${rulesPath}/${id}`)
            rules.splice(rules.indexOf(id), 1)
          }
          await remember(workspace, history)
        }
        await Promise.all(underWay)
        const events = await database.event.findMany({ select: { id: true, ruleSetId: true } })
        for (const { id, ruleSetId } of events) {
          const set =
            ruleSetId === null ? null : await database.ruleSet.findFirst({ where: { id: ruleSetId } })
          const executions = await database.execution.findMany({ where: { eventId: id } })
          const explained = (await why(workspace, id, 'limit=100')).rules
          t.same(explained.map(({ ruleId }) => ruleId).sort(), (set?.ruleIds ?? []).sort())
          for (const { ruleId, verdict, version, trace } of explained) {
            const execution = executions.find((row) => row.handlerId === ruleId)
            if (trace === null) throw new Error(`${ruleId} is not explained`)
            if (trace.conditionsPassed !== (execution !== undefined))
              throw new Error(`${id} ${ruleId} disagrees`)
            if ((verdict === 'matched') !== (execution !== undefined))
              throw new Error(`${id} ${ruleId} ${verdict}`)
            if (execution !== undefined && execution.ruleVersion !== version) throw new Error(`${version}`)
          }
          const event = await readEvaluatedEvent(database, workspace.id, id)
          if (event?.rulesVersion == null) throw new Error(`${id} is not done`)
          const { rulesVersion, type } = event
          for (const ruleId of new Set([...history.values()].flatMap((known) => [...known.keys()]))) {
            if (set?.ruleIds.includes(ruleId)) continue
            const verdict = (await findUnconsidered(database, event, ruleId))?.verdict
            t.equal(verdict, expectVerdict(history, { rulesVersion, type }, ruleId), `${id} ${ruleId}`)
          }
        }
      }),
      { numRuns: process.env.TEST_LARGE ? 100 : process.env.TEST_LONG ? 8 : 3, endOnFailure: true },
    )
  },
)

t.test('a page ends where the work of one question does, and each rule is on one page', async (t) => {
  const small = await startApi(t, {}, { evaluation: { ...evaluatorLimits, work: 30_000 } })
  const workspace = await api.makeWorkspace()
  const conditions = [{ field: 'text', operator: 'contains', value: 'a text that is sought' }]
  const ids: string[] = []
  for (let index = 0; index < 30; index++)
    ids.push(await create(workspace, { name: `Rule ${index}`, conditions }))
  const id = await trigger(workspace, { text: 'a text'.repeat(1_000) })
  const seen: string[] = []
  let [pages, cursor]: [number, string | null] = [0, '']
  while (cursor !== null) {
    const { status, body }: { status: number; body: Why } = await small.call<Why>(
      'GET',
      `/api/events/${id}/why?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      { token: workspace.tokens.viewer, workspace: workspace.id },
    )
    t.equal(status, 200)
    seen.push(...body.rules.map(({ ruleId }) => ruleId))
    cursor = body.nextCursor
    pages++
  }
  t.ok(pages > 1 && pages <= 30, `${pages} pages`)
  t.same(seen.toSorted(), ids.toSorted())
})
