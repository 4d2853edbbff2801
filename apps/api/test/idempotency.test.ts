import { setTimeout } from 'node:timers/promises'
import { newId, Prisma } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t, { type Test } from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import {
  type Answer,
  askPatiently,
  type Call,
  type Question,
  ruleBody,
  rules,
  startApi,
  task,
} from './fixtures/api.js'

/** Two APIs on one database: each knows the keys of the other. */
const [api, twin] = await Promise.all([startApi(t), startApi(t)])

const trigger = `${rules}/trigger/LEAD_CREATED`
const later = { prefer: 'respond-async' }
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface AcceptedEvent {
  id: string
  status: string
}

/** A workspace, asked under a key through the one API or the other. */
async function makeOwnWorkspace() {
  const workspace = await api.makeWorkspace()
  const callOther: Call = (method, path, question) =>
    twin.call(method, path, { token: workspace.tokens.admin, workspace: workspace.id, ...question })
  const post = <Body = unknown>(
    path: string,
    key: string | undefined,
    question: Question = {},
    call = workspace.call,
  ) => call<Body>('POST', path, { ...question, headers: { 'idempotency-key': key, ...question.headers } })
  return {
    ...workspace,
    post,
    postOther: <Body = unknown>(path: string, key: string, question?: Question) =>
      post<Body>(path, key, question, callOther),
    async create(fields: Record<string, unknown> = {}): Promise<Rule> {
      return (await workspace.call<Rule>('POST', rules, { body: ruleBody(fields) })).body
    },
    countRules: () => workspace.database.rule.count(),
    events: () => workspace.database.event.findMany({ select: { id: true, data: true } }),
    /** Lets time go by. */
    ageKey: (key: string, hours: number) =>
      workspace.database.idempotencyKey.update({
        where: { workspaceId_key: { workspaceId: workspace.id, key } },
        data: { createdAt: new Date(Date.now() - hours * 3_600_000) },
      }),
  }
}

/** What a caller sees of an outcome: not what belongs to one sending. */
function outcomeOf({ status, headers, body }: Answer) {
  const names = ['location', 'content-location', 'etag', 'preference-applied']
  return { status, headers: names.map((name) => headers[name]), body }
}

const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true'

function sameOutcome(t: Test, replay: Answer, first: Answer, message = 'the same outcome'): void {
  t.strictSame(outcomeOf(replay), outcomeOf(first), message)
  t.ok(isReplay(replay), 'it is marked as replayed')
  t.notOk(isReplay(first))
}

t.test('a rule is created once with its key, and every process gives the same response', async (t) => {
  const { post, postOther, countRules, id, database } = await makeOwnWorkspace()
  const first = await post<Rule>(rules, 'k', { body: ruleBody({ name: 'Once' }) })
  t.match(first, { status: 201, body: { name: 'Once', version: 1 }, headers: { etag: '"1"' } })
  t.equal(first.headers.location, `${rules}/${first.body.id}`)
  sameOutcome(t, await post(rules, 'k', { body: ruleBody({ name: 'Once' }) }), first)
  sameOutcome(t, await postOther(rules, 'k', { body: ruleBody({ name: 'Once' }) }), first)
  t.equal(await countRules(), 1)
  t.equal(await database.auditEntry.count({ where: { action: 'rule.created' } }), 1)
  const { rulesVersion } = await database.workspace.findUniqueOrThrow({ where: { id } })
  t.equal(rulesVersion, 1)
})

t.test('the first response is repeated, even if the rule has changed since', async (t) => {
  const { post, call, create, countRules } = await makeOwnWorkspace()
  const source = await create({ name: 'Source' })
  const clone = await post<Rule>(`${rules}/${source.id}/clone`, 'c', { headers: { 'if-match': '"1"' } })
  t.match(clone, { status: 201, body: { name: 'Copy of Source', isActive: false } })
  await call('PUT', `${rules}/${source.id}`, { body: { name: 'Changed' } })
  const again = () => post(`${rules}/${source.id}/clone`, 'c', { headers: { 'if-match': '"1"' } })
  sameOutcome(t, await again(), clone, 'its version is another one now')
  for (const { id } of [source, clone.body]) await call('DELETE', `${rules}/${id}`)
  sameOutcome(t, await again(), clone, 'both are gone')
  t.equal(await countRules(), 0)
})

t.test('fifty equal requests to two processes create one rule', async (t) => {
  const { post, postOther, create, countRules } = await makeOwnWorkspace()
  const source = await create()
  for (const [path, body] of [
    [rules, ruleBody()],
    [`${rules}/${source.id}/clone`, undefined],
  ] as const) {
    const before = await countRules()
    // On a busy machine a twin may be asked to come again, and does.
    const untilAnswered = async (send: typeof postOther) => {
      for (;;) {
        const answer = await send<Rule>(path, path, { body })
        if (answer.status !== 503) return answer
      }
    }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => untilAnswered(index % 2 ? post : postOther)),
    )
    t.equal(answers.filter((answer) => !isReplay(answer)).length, 1)
    t.equal(new Set(answers.map((answer) => JSON.stringify(outcomeOf(answer)))).size, 1)
    t.equal(answers[0]?.status, 201)
    t.equal(await countRules(), before + 1)
  }
})

t.test('without a key, each request counts as a new one', async (t) => {
  const { post, countRules, events, database } = await makeOwnWorkspace()
  const body = ruleBody()
  const answers = [await post(rules, undefined, { body }), await post(rules, undefined, { body })]
  t.notOk(answers.some(isReplay))
  t.equal(await countRules(), 2)
  const posted = { headers: later, body: { data: {} } }
  await Promise.all([post(trigger, undefined, posted), post(trigger, undefined, posted)])
  t.equal((await events()).length, 2)
  t.equal(await database.idempotencyKey.count(), 0)
})

t.test('the same key with another request is refused', async (t) => {
  const { post, postOther, create, countRules, events } = await makeOwnWorkspace()
  const [rule, other] = [await create(), await create()]
  const used = {
    status: 422,
    body: { errors: [{ field: 'Idempotency-Key', message: 'Was already used with a different request' }] },
  }
  const requests: [key: string, path: string, body: object | undefined][] = [
    ['create', rules, ruleBody()],
    ['clone', `${rules}/${rule.id}/clone`, undefined],
    ['execute', `${rules}/${rule.id}/execute`, { data: { a: 1 } }],
    ['trigger', trigger, { data: { a: 1 } }],
  ]
  const others: [path: string, body: object | undefined][] = [
    ...requests.map(([, path, body]) => [path, body] as [string, object | undefined]),
    [rules, ruleBody({ name: 'Another' })],
    [`${rules}/${other.id}/clone`, undefined],
    [`${rules}/${other.id}/execute`, { data: { a: 1 } }],
    [`${rules}/${rule.id}/execute`, { data: { a: '1' } }],
    [`${rules}/trigger/LEAD_UPDATED`, { data: { a: 1 } }],
    [trigger, { data: { a: 2 } }],
  ]
  for (const [key, path, body] of requests) await post(path, key, { body, headers: later })
  const [ruleCount, eventCount] = [await countRules(), (await events()).length]
  for (const [key, path, body] of requests)
    for (const [otherPath, otherBody] of others) {
      if (path === otherPath && body === otherBody) continue
      const answer = await postOther(otherPath, key, { body: otherBody, headers: later })
      t.strictSame({ status: answer.status, body: answer.body }, used, `${key} and ${otherPath}`)
    }
  t.equal(await countRules(), ruleCount)
  t.equal((await events()).length, eventCount)
})

t.test('blanks in the body and the Prefer header do not distinguish requests', async (t) => {
  const { post, events } = await makeOwnWorkspace()
  const first = await post(trigger, 'k', { body: '{"data":{"a":[1,2]}}', headers: later })
  t.match(first, { status: 202, headers: { 'preference-applied': 'respond-async' } })
  const spaced = '{ "data" : { "a" : [ 1,\n2 ] } }'
  sameOutcome(t, await post(trigger, 'k', { body: spaced, headers: { prefer: 'wait=3' } }), first)
  t.equal((await events()).length, 1)
})

t.test('a key is 1 to 255 printable ASCII characters', async (t) => {
  const { post, countRules } = await makeOwnWorkspace()
  const body = ruleBody()
  const error = 'Header Idempotency-Key must be 1 to 255 printable ASCII characters'
  for (const key of ['', 'x'.repeat(256), 'schlüssel', 'a\tb', '\u007f'])
    t.match(await post(rules, key, { body }), { status: 400, body: { error } }, JSON.stringify(key))
  t.equal(await countRules(), 0)
  const keys = ['x', '~'.repeat(255), 'a b, c', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', '%00', '*']
  for (const key of keys) t.equal((await post(rules, key, { body })).status, 201, key)
  for (const key of keys) t.ok(isReplay(await post(rules, key, { body })), key)
  t.equal(await countRules(), keys.length)
})

t.test('all other faults of a request are reported before that of its key', async (t) => {
  const { post, tokens, create } = await makeOwnWorkspace()
  const rule = await create()
  const body = ruleBody()
  const cases: [path: string, question: Question, answer: object][] = [
    [rules, { body, token: 'none' }, { status: 401 }],
    [rules, { body, workspace: 'none' }, { status: 400, body: { error: /x-workspace-id/ } }],
    [rules, { body, token: tokens.viewer }, { status: 403 }],
    [
      rules,
      { body: '{' },
      {
        status: 400,
        body: { error: 'Body is not valid JSON: line 1, column 2 should be a name in double quotes or }' },
      },
    ],
    [
      rules,
      { body: {} },
      { status: 422, body: { errors: [{ field: 'name' }, { field: 'trigger' }, { field: 'actions' }] } },
    ],
    [rules, { body: { ...body, trigger: 'NONE' } }, { status: 400, body: { error: 'Invalid trigger type' } }],
    [
      `${rules}/trigger/NONE`,
      { body: { data: {} } },
      { status: 400, body: { error: 'Invalid trigger type' } },
    ],
    [`${rules}/${rule.id}/execute`, { body: {} }, { status: 422, body: { errors: [{ field: 'data' }] } }],
    [`${rules}/none/clone`, {}, { status: 404 }],
    // And the key before the question whether the rule is there.
    [`${rules}/${newId()}/clone`, {}, { status: 400, body: { error: /^Header Idempotency-Key/ } }],
    [
      `${rules}/${newId()}/execute`,
      { body: { data: {} } },
      { status: 400, body: { error: /^Header Idempo/ } },
    ],
  ]
  for (const [path, question, answer] of cases)
    matchLists(t, await post(path, 'ü', question), answer, `${path} ${JSON.stringify(question)}`)
})

t.test('a request that was refused leaves its key free', async (t) => {
  const { post, call, create, countRules, database } = await makeOwnWorkspace()
  t.equal((await post(rules, 'k', { body: {} })).status, 422)
  const missing = newId()
  for (const [path, body] of [
    ['clone', {}],
    ['execute', { data: {} }],
  ] as const)
    t.equal((await post(`${rules}/${missing}/${path}`, 'k', { body })).status, 404, path)
  const rule = await create()
  const stale = await post(`${rules}/${rule.id}/clone`, 'k', { headers: { 'if-match': '"7"' } })
  t.equal(stale.status, 412)
  t.equal(await database.idempotencyKey.count(), 0)

  const rows = Array.from({ length: 998 }, (_, index) => ({
    id: newId(),
    workspaceId: rule.workspaceId,
    name: `${index}`,
    description: '',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [task],
    isActive: false,
  }))
  await database.rule.createMany({ data: rows })
  const last = await post(rules, 'last', { body: ruleBody() })
  t.equal(last.status, 201)
  sameOutcome(t, await post(rules, 'last', { body: ruleBody() }), last, 'though there is room for no other')
  t.match(await post(rules, 'k', { body: ruleBody() }), { status: 409, body: { error: /1000 rules/ } })
  await call('DELETE', `${rules}/${rule.id}`)
  const made = await post(rules, 'k', { body: ruleBody() })
  t.equal(made.status, 201)
  t.notOk(isReplay(made))
  t.equal(await countRules(), 1_000)
})

t.test('a key belongs to its workspace, and to all of its members', async (t) => {
  const [workspace, neighbour] = [await makeOwnWorkspace(), await makeOwnWorkspace()]
  const first = await workspace.post<Rule>(rules, 'k', { body: ruleBody() })
  const next = await neighbour.post<Rule>(rules, 'k', { body: ruleBody() })
  t.notOk(isReplay(next))
  t.equal(next.body.workspaceId, neighbour.id)
  sameOutcome(
    t,
    await workspace.post(rules, 'k', { body: ruleBody(), token: workspace.tokens.editor }),
    first,
  )
  const viewer = await workspace.post(rules, 'k', { body: ruleBody(), token: workspace.tokens.viewer })
  t.equal(viewer.status, 403, 'but to those alone who might have asked first')

  const posted = { body: { data: {} }, headers: later }
  const [one, other] = await Promise.all([
    workspace.post<AcceptedEvent>(trigger, 'event', posted),
    neighbour.post<AcceptedEvent>(trigger, 'event', posted),
  ])
  t.not(one.body.id, other.body.id)
  t.equal((await workspace.events()).length, 1)
  t.equal((await neighbour.events()).length, 1)
})

t.test('after 24 hours a key is new, even if it was not removed', async (t) => {
  const { post, postOther, countRules, events, ageKey } = await makeOwnWorkspace()
  const body = ruleBody()
  const first = await post(rules, 'rule', { body })
  await ageKey('rule', 23.99)
  sameOutcome(t, await post(rules, 'rule', { body }), first)
  await ageKey('rule', 24.01)
  const second = await post(rules, 'rule', { body: ruleBody({ name: 'New' }) })
  t.equal(second.status, 201)
  t.notOk(isReplay(second))
  sameOutcome(t, await postOther(rules, 'rule', { body: ruleBody({ name: 'New' }) }), second)
  t.equal(await countRules(), 2)

  const posted = { body: { data: { n: 1 } }, headers: later }
  const event = await post<AcceptedEvent>(trigger, 'event', posted)
  await ageKey('event', 23.99)
  sameOutcome(t, await post(trigger, 'event', posted), event)
  await ageKey('event', 24.01)
  const copies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      askPatiently(() =>
        (index % 2 ? post : postOther)<AcceptedEvent>(trigger, 'event', {
          body: { data: { n: 2 } },
          headers: later,
        }),
      ),
    ),
  )
  t.equal(copies.filter((answer) => !isReplay(answer)).length, 1)
  const known = (await events()).map(({ id }) => id).sort()
  t.strictSame(known, [event.body.id, copies[0]?.body.id].sort(), 'the old event, and one new')
})

t.test('fifty equal requests to two processes create one event', async (t) => {
  const { post, postOther, create, events } = await makeOwnWorkspace()
  const { id } = await create()
  for (const [path, location] of [
    [trigger, '/api/events/'],
    [`${rules}/${id}/execute`, '/api/executions/'],
  ] as const) {
    const before = await events()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        askPatiently(() =>
          (index % 2 ? post : postOther)<AcceptedEvent>(path, path, { body: { data: {} }, headers: later }),
        ),
      ),
    )
    t.equal(answers.filter((answer) => !isReplay(answer)).length, 1)
    t.equal(new Set(answers.map((answer) => JSON.stringify(outcomeOf(answer)))).size, 1)
    const [answer] = answers
    t.match(answer, { status: 202, headers: { 'preference-applied': 'respond-async' }, body: { id: uuid } })
    t.equal(answer?.headers.location, `${location}${answer?.body.id}`)
    const known = new Set(before.map((event) => event.id))
    t.strictSame(
      (await events()).map((event) => event.id).filter((one) => !known.has(one)),
      [answer?.body.id],
    )
  }
})

t.test('many keys in different orders in two processes cause no deadlock', async (t) => {
  const { post, postOther, events } = await makeOwnWorkspace()
  const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`)
  const ask = (keys: string[], through: typeof postOther) =>
    keys.map((key) =>
      askPatiently(() => through<AcceptedEvent>(trigger, key, { body: { data: { key } }, headers: later })),
    )
  const answers = await Promise.all([
    ...ask(keys, post),
    ...ask([...keys].reverse(), postOther),
    ...ask([...keys.slice(20), ...keys.slice(0, 20)], post),
    ...ask(
      keys.filter((_, index) => index % 3),
      postOther,
    ),
  ])
  t.strictSame([...new Set(answers.map(({ status }) => status))], [202])
  t.equal(answers.filter((answer) => !isReplay(answer)).length, keys.length)
  t.strictSame((await events()).map(({ data }) => (data as { key: string }).key).sort(), [...keys].sort())
})

t.test('of different concurrent requests with one key, one is accepted', async (t) => {
  const { post, postOther, events } = await makeOwnWorkspace()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      askPatiently(() =>
        (n % 2 ? post : postOther)<AcceptedEvent>(trigger, 'k', { body: { data: { n } }, headers: later }),
      ),
    ),
  )
  t.equal(answers.filter(({ status }) => status === 202).length, 1)
  t.equal(answers.filter(({ status }) => status === 422).length, 19)
  const stored = await events()
  t.equal(stored.length, 1)
  t.equal(
    answers.findIndex(({ status }) => status === 202),
    (stored[0]?.data as { n: number } | undefined)?.n,
  )
})

t.test('the response of an execution is repeated after its rule was deleted', async (t) => {
  const { post, postOther, call, create } = await makeOwnWorkspace()
  const { id } = await create()
  const question = { body: { data: {} }, headers: later }
  const first = await post<AcceptedEvent>(`${rules}/${id}/execute`, 'k', question)
  await call('DELETE', `${rules}/${id}`)
  sameOutcome(t, await postOther(`${rules}/${id}/execute`, 'k', question), first)
  t.equal((await post(`${rules}/${id}/execute`, 'other', question)).status, 404)
  const changed = { body: { data: { a: 1 } }, headers: later }
  t.equal((await post(`${rules}/${id}/execute`, 'k', changed)).status, 422)
})

t.test('a dry run has no effect, and does not use its key', async (t) => {
  const { post, create, database } = await makeOwnWorkspace()
  const { id } = await create()
  for (const key of ['k', 'k', 'ü', '']) {
    const answer = await post(`${rules}/${id}/execute`, key, { body: { data: {}, dryRun: true } })
    t.match(answer, { status: 200, body: { dryRun: true } })
    t.notOk(isReplay(answer))
  }
  const missing = await post(`${rules}/${newId()}/execute`, 'ü', { body: { data: {}, dryRun: true } })
  t.equal(missing.status, 404)
  t.equal(await database.idempotencyKey.count(), 0)
})

t.test('a repeated request gets a 409 while the first one waits for the outcome', async (t) => {
  const { post, postOther, events } = await makeOwnWorkspace()
  const question = { body: { data: {} }, headers: { prefer: 'wait=1' } }
  const waiting = post(trigger, 'k', question)
  await until(async () => (await events()).length === 1)
  const twins = await Promise.all([post(trigger, 'k', question), postOther(trigger, 'k', question)])
  for (const twin of twins)
    t.match(twin, {
      status: 409,
      headers: { 'retry-after': '1' },
      body: { error: 'A request with this Idempotency-Key is still running' },
    })
  const first = await waiting
  t.match(first, { status: 202, headers: { 'preference-applied': 'wait=1' } }, 'there is no worker here')
  sameOutcome(t, await postOther(trigger, 'k', question), first)
  t.equal((await events()).length, 1)
})

t.test('a caller whose API died gets the outcome by a repeated request', async (t) => {
  const { post, postOther, create, database, id: workspaceId } = await makeOwnWorkspace()
  const rule = await create()
  const path = `${rules}/${rule.id}/execute`
  const { body } = await post<AcceptedEvent>(path, 'k', { body: { data: {} }, headers: later })
  await database.idempotencyKey.updateMany({ data: { answer: Prisma.DbNull } })
  const again = () => postOther(path, 'k', { body: { data: {} } })
  t.equal((await again()).status, 409, 'the event is not done')

  const results = [{ action: 'CREATE_TASK', status: 'success' }]
  const execution = {
    id: body.id,
    workspaceId,
    eventId: body.id,
    eventType: 'LEAD_CREATED',
    handlerId: rule.id,
    ruleVersion: 1,
    status: 'running' as const,
    results,
    startedAt: new Date(),
  }
  await database.execution.create({ data: execution })
  await database.event.update({ where: { id: body.id }, data: { doneAt: new Date(), ruleSetId: rule.id } })
  t.equal((await again()).status, 409, 'an action of it is under way')

  await database.execution.update({ where: { id: body.id }, data: { status: 'succeeded' } })
  const repeated = await again()
  t.strictSame(outcomeOf(repeated), {
    status: 200,
    headers: [undefined, `/api/executions/${body.id}`, undefined, undefined],
    body: { success: true, conditionsPassed: true, actionsExecuted: 1, dryRun: false, results },
  })
  t.ok(isReplay(repeated))
  await database.execution.update({ where: { id: body.id }, data: { status: 'failed', error: 'x' } })
  t.strictSame(outcomeOf(await again()), outcomeOf(repeated), 'and later repetitions get the same')
})

t.test('a repetition for a quarantined event gets 202 with the location of the event', async (t) => {
  const { post, postOther, create, call, database } = await makeOwnWorkspace()
  const rule = await create()
  const source = (await post<AcceptedEvent>(trigger, undefined, { body: { data: {} }, headers: later })).body
  await database.event.update({ where: { id: source.id }, data: { doneAt: new Date() } })
  const error = 'Quarantined: several workers crashed while they processed this event'
  for (const [path, location, outcome] of [
    [trigger, '/api/events/', { status: 'quarantined', triggered: 0 }],
    [`${rules}/${rule.id}/execute`, '/api/executions/', { status: 'failed', success: false, error }],
    [`/api/events/${source.id}/replay`, '/api/events/', { status: 'quarantined', triggered: 0 }],
  ] as const) {
    const body = path.endsWith('/replay') ? undefined : { data: {} }
    const { id } = (await post<AcceptedEvent>(path, path, { body, headers: later })).body
    // The API died before it had kept an answer, and five workers died of the event.
    await database.idempotencyKey.updateMany({ where: { key: path }, data: { answer: Prisma.DbNull } })
    t.equal((await postOther(path, path, { body })).status, 409, 'the event is not done')
    const data = { doneAt: new Date(), crashes: 5, quarantined: true }
    await database.event.update({ where: { id }, data })

    const repeats = [await postOther(path, path, { body }), await post(path, path, { body })]
    for (const repeat of repeats) {
      t.strictSame(
        outcomeOf(repeat),
        {
          status: 202,
          headers: [`${location}${id}`, undefined, undefined, undefined],
          body: { id, status: 'accepted' },
        },
        path,
      )
      t.ok(isReplay(repeat))
    }
    t.match((await call('GET', `${location}${id}`)).body, outcome)
  }
  const changed = { body: { data: { a: 1 } } }
  t.equal((await post(trigger, trigger, changed)).status, 422, 'another request under its key is refused')
})

t.test('each repetition for a rule that was deleted first is a 404', async (t) => {
  const { post, postOther, create, call, database } = await makeOwnWorkspace()
  const rule = await create()
  const path = `${rules}/${rule.id}/execute`
  const { body } = await post<AcceptedEvent>(path, 'k', { body: { data: {} }, headers: later })
  await database.idempotencyKey.updateMany({ data: { answer: Prisma.DbNull } })
  await call('DELETE', `${rules}/${rule.id}`)
  await database.event.update({ where: { id: body.id }, data: { doneAt: new Date() } })
  for (const ask of [post, postOther])
    t.match(await ask(path, 'k', { body: { data: {} } }), {
      status: 404,
      body: { error: 'Automation rule not found' },
    })
})

t.test('the first stored response stays, and one of another event is ignored', async (t) => {
  const { id: workspaceId, database } = await makeOwnWorkspace()
  const { keptResponses } = api.app
  const request = { workspaceId, key: 'k', requestHash: '00'.repeat(32) }
  const eventId = newId()
  const row = { workspaceId, key: 'k', requestHash: Buffer.alloc(32), eventId }
  await database.idempotencyKey.create({ data: row })
  const response = (status: number) => ({ status, headers: {}, body: {} })
  await keptResponses.keep({ request, eventId: newId(), response: response(1) })
  t.strictSame((await keptResponses.find(request))?.answer, null, 'its key was taken anew meanwhile')
  await Promise.all(
    [2, 3].map((status) => keptResponses.keep({ request, eventId, response: response(status) })),
  )
  const kept = (await keptResponses.find(request))?.answer
  t.ok(kept)
  await keptResponses.keep({ request, eventId, response: response(4) })
  t.strictSame((await keptResponses.find(request))?.answer, kept)
})

t.test('a request with the id in the other case is a repeat', async (t) => {
  const { post, call, create, countRules, events } = await makeOwnWorkspace()
  const rule = await create()
  const { body: event } = await call<AcceptedEvent>('POST', trigger, { body: { data: {} }, headers: later })
  const body = { data: {} }
  const paths: [path: (id: string) => string, id: string, question: Question][] = [
    [(id) => `${rules}/${id}/execute`, rule.id, { body, headers: later }],
    [(id) => `${rules}/${id}/clone`, rule.id, {}],
    [(id) => `/api/events/${id}/replay`, event.id, { headers: later }],
  ]
  for (const [path, id, question] of paths)
    for (const [one, other] of [
      [id, id.toUpperCase()],
      [id.toUpperCase(), id],
    ] as const) {
      const key = `${path('')} ${one}`
      const first = await post(path(one), key, question)
      sameOutcome(t, await post(path(other), key, question), first, key)
    }
  t.equal(await countRules(), 3)
  t.equal((await events()).length, 5)
})

t.test('a repeat gets its response though the event type that it names was deleted', async (t) => {
  const { post, postOther, call, countRules, events, id } = await makeOwnWorkspace()
  const [own, other] = ['/api/event-types/OWN_TYPE', '/api/event-types/OTHER_TYPE']
  const ownTrigger = `${rules}/trigger/OWN_TYPE`
  for (const name of ['OWN_TYPE', 'OTHER_TYPE']) await call('POST', '/api/event-types', { body: { name } })
  const triggered = { body: { data: { a: 1 } }, headers: later }
  const rule = { body: ruleBody({ trigger: 'OTHER_TYPE' }) }
  const emitting = {
    body: ruleBody({ actions: [{ type: 'EMIT_EVENT', config: { eventType: 'OTHER_TYPE', data: {} } }] }),
  }
  const batch = {
    body: {
      events: [
        { data: { a: 2 }, idempotencyKey: 'b1' },
        { data: { a: 3 }, idempotencyKey: 'b2' },
      ],
    },
  }
  const first = await post(ownTrigger, 'trigger', triggered)
  const created = [await post<Rule>(rules, 'rule', rule), await post<Rule>(rules, 'emitting', emitting)]
  t.strictSame(
    [first, ...created].map(({ status }) => status),
    [202, 201, 201],
  )
  const firstBatch = await call<{ results: { id: string }[] }>('POST', `${ownTrigger}/batch`, batch)
  for (const { body } of created) await call('DELETE', `${rules}/${body.id}`)
  for (const path of [own, other]) t.equal((await call('DELETE', path)).status, 204)
  // Another process learns of it a second later.
  twin.app.eventTypes.forget(id)

  for (const ask of [post, postOther]) {
    sameOutcome(t, await ask(ownTrigger, 'trigger', triggered), first)
    sameOutcome(t, await ask(rules, 'rule', rule), created[0] as Answer)
    sameOutcome(t, await ask(rules, 'emitting', emitting), created[1] as Answer)
  }
  matchLists(t, (await call('POST', `${ownTrigger}/batch`, batch)).body, {
    accepted: 2,
    results: firstBatch.body.results.map((one) => ({ id: one.id, status: 'accepted', replayed: true })),
  })
  const refusedType = { status: 400, body: { error: 'Invalid trigger type' } }
  const more = [...batch.body.events, { data: { a: 4 }, idempotencyKey: 'b3' }]
  t.match(await call('POST', `${ownTrigger}/batch`, { body: { events: more } }), refusedType, 'one is new')
  t.match(await post(ownTrigger, 'another key', triggered), refusedType)
  t.match(await post(ownTrigger, 'trigger', { ...triggered, body: { data: { a: 2 } } }), refusedType)
  t.match(await post(ownTrigger, 'trigger', { body: { data: { a: 1 }, dryRun: true } }), refusedType)
  t.match(await post(rules, 'another', rule), refusedType)
  t.equal(await countRules(), 0)
  t.equal((await events()).length, 3)
})

t.test('the document has the header as an optional parameter of the keyed operations', async (t) => {
  const { paths } = JSON.parse(JSON.stringify(api.app.swagger())) as {
    paths: Record<string, { post?: { parameters?: { name: string; in: string; required?: boolean }[] } }>
  }
  const documented = Object.entries(paths).flatMap(([path, { post }]) =>
    (post?.parameters ?? [])
      .filter((parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key')
      .map(({ required }) => [path.replace(/\/$/, ''), required ?? false]),
  )
  for (const path of [rules, `${rules}/{id}/clone`, `${rules}/{id}/execute`, `${rules}/trigger/{eventType}`])
    t.ok(
      documented.some(([name, required]) => name === path && required === false),
      path,
    )
})

/** Waits until something holds; the test fails by its own timeout where it never does. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(20)
}
