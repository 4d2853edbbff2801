import { NotAdmitted } from '@automation/admission'
import { newId } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { readInTurn } from '../src/admission.js'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)
const hot = { field: 'score', operator: 'gt', value: 80 }

async function storeEvents({ id: workspaceId, database }: Workspace, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({
    id: newId(),
    workspaceId,
    type: 'LEAD_CREATED',
    data: { score: 90 },
    doneAt: new Date(),
  }))
  await database.event.createMany({ data: rows })
  return rows.map(({ id }) => id)
}

/** Others keep the evaluator busy: a request gets one turn, and no second one. */
function refuseSecondTurns(t: Test, isServed = (turn: number) => turn === 0) {
  const { evaluator } = api.app
  const enter = evaluator.enter.bind(evaluator)
  let turns = 0
  t.intercept(evaluator, 'enter', {
    value: async (...args: Parameters<typeof enter>) => {
      if (!isServed(turns++)) throw new NotAdmitted('others', 500)
      return enter(...args)
    },
  })
}

t.test('a search that gets no second turn ends its page, and the next page goes on behind it', async (t) => {
  const workspace = await api.makeWorkspace()
  const ids = await storeEvents(workspace, 2_500)
  const search = (cursor?: string) =>
    workspace.call<{ events: { id: string }[]; scanned: number; nextCursor: string }>(
      'POST',
      '/api/events/search',
      { body: { conditions: [hot], limit: 250, ...(cursor && { cursor }) } },
    )
  const found: string[] = []
  let cursor: string | undefined
  do {
    const { status, body } = await search(cursor)
    t.equal(status, 200)
    found.push(...body.events.map(({ id }) => id))
    cursor = body.nextCursor ?? undefined
  } while (cursor !== undefined)
  t.same(found, ids.toReversed())

  const rare = { conditions: [{ ...hot, value: 95 }] }
  refuseSecondTurns(t)
  const first = await workspace.call<{ scanned: number; nextCursor: string }>('POST', '/api/events/search', {
    body: rare,
  })
  t.match(first, { status: 200, body: { events: { length: 0 }, scanned: 1_000, nextCursor: String } })
  const second = await workspace.call('POST', '/api/events/search', {
    body: { ...rare, cursor: first.body.nextCursor },
  })
  t.match(second, { status: 429, headers: { 'retry-after': '1' } }, 'one that came nowhere is refused')
})

t.test('a survey that gets no second turn says that it is not complete', async (t) => {
  const workspace = await api.makeWorkspace()
  await storeEvents(workspace, 2_500)
  refuseSecondTurns(t)
  t.match(await workspace.call('GET', '/api/event-types/LEAD_CREATED/fields?events=2500'), {
    status: 200,
    body: { events: 1_000, isComplete: false },
  })
})

/** A request of a workspace, as far as it waits for its turn. */
function requestOf(workspaceId: string, createdBy: string | null, msLeft = 10_000): FastifyRequest {
  return {
    server: api.app,
    workspace: { id: workspaceId, createdBy },
    dueAt: performance.now() + msLeft,
    raw: { socket: { destroyed: false } },
    hasBegun: false,
  } as unknown as FastifyRequest
}

t.test('a question that would end after its deadline is refused, and does not wait', async (t) => {
  const { evaluator } = api.app
  const first = await evaluator.enter(requestOf('a', null))
  t.match(await evaluator.enter(requestOf('a', null, 100)).catch((error) => error), { because: 'own' })
  const second = await evaluator.enter(requestOf('b', null))
  t.match(await evaluator.enter(requestOf('c', null, 100)).catch((error) => error), { because: 'others' })
  for (const entry of [first, second]) entry.leave()
})

t.test(
  'twelve workspaces of one user let the question of another begin before their second one',
  async (t) => {
    const { evaluator } = api.app
    const begun: string[] = []
    const ask = async (workspaceId: string, createdBy: string) => {
      const entry = await evaluator.enter(requestOf(workspaceId, createdBy))
      begun.push(createdBy)
      setTimeout(() => entry.leave(1_000), 20)
    }
    const asked = Array.from({ length: 12 }, (_, n) => ask(`of ada ${n}`, 'user:ada'))
    asked.push(ask('of bob', 'user:bob'), ask('of cy', 'user:cy'))
    await Promise.all(asked)
    t.strictSame(begun.slice(0, 4), ['user:ada', 'user:bob', 'user:cy', 'user:ada'])
  },
)

t.test(
  'what a list that is being sent reads next goes before the first reads of others of its owner',
  async (t) => {
    const begun: string[] = []
    const ask = (name: string, request: FastifyRequest) =>
      readInTurn(request, async () => {
        begun.push(name)
        await new Promise((resolve) => setTimeout(resolve, 5))
      })
    const sending = requestOf('a', 'user:lists')
    await ask('first part', sending)
    const others = Array.from({ length: 6 }, (_, n) => ask(`other ${n}`, requestOf('a', 'user:lists')))
    await Promise.all([...others, ask('next part', sending)])
    t.strictSame(begun.slice(0, 4), ['first part', 'other 0', 'other 1', 'next part'])
  },
)

t.test('a refusal says whose requests were in the way', async (t) => {
  const [{ call, id }, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const check = () => call('POST', `${rules}/check`, { body: { rules: [] } })
  const holdFor = (owner: string) => api.app.evaluator.enter(requestOf(other.id, owner))
  const others = await Promise.all([holdFor('user:one'), holdFor('user:two')])
  t.match(await check(), {
    status: 429,
    headers: { 'retry-after': '1' },
    body: { error: 'Too many requests of others are in progress: try again later' },
  })
  for (const entry of others) entry.leave()
  const { createdBy } = await api.app.database.system.workspace.findUniqueOrThrow({ where: { id } })
  const own = await api.app.evaluator.enter(requestOf(id, createdBy))
  t.match(await check(), {
    status: 429,
    headers: { 'retry-after': /^[1-9]/ },
    body: { error: 'Too many of your requests are in progress: try again later' },
  })
  own.leave()
})

/** Questions wait before the child process until they are released. */
function holdQuestions(t: Test, task: string) {
  const { evaluator } = api.app
  const run = evaluator.run.bind(evaluator)
  const held: (() => void)[] = []
  t.intercept(evaluator, 'run', {
    value: async (...[name, input]: Parameters<typeof run>) => {
      if (name === task) await new Promise<void>((resolve) => held.push(resolve))
      return run(name, input)
    },
  })
  return held
}

async function waitFor(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Lets the held questions go on until all that were asked have ended. @param onHeld runs before each */
async function releaseAll(
  held: ReturnType<typeof holdQuestions>,
  asked: Promise<unknown>[],
  onHeld = () => {},
): Promise<void> {
  let open = asked.length
  for (const question of asked) void question.then(() => open--)
  for (;;) {
    await waitFor(() => open === 0 || held.length > 0)
    if (open === 0) return
    onHeld()
    held.pop()?.()
  }
}

const questions = {
  checkSet: ({ call }: Workspace) => call('POST', `${rules}/check`, { body: {} }),
  dryRunEvent: ({ call }: Workspace) =>
    call('POST', `${rules}/trigger/LEAD_CREATED`, { body: { data: {}, dryRun: true } }),
  whyOfEvent: async (workspace: Workspace) => {
    const { id } = await workspace.database.event.findFirstOrThrow({ select: { id: true } })
    return workspace.call('GET', `/api/events/${id}/why`)
  },
}

for (const [task, ask] of Object.entries(questions))
  t.test(`of an owner one ${task} at a time holds its rules, and others are served meanwhile`, async (t) => {
    const [busy, quiet] = [await api.makeWorkspace(), await api.makeWorkspace()]
    for (const workspace of [busy, quiet]) {
      await workspace.call('POST', rules, { body: ruleBody() })
      await storeEvents(workspace, 1)
    }
    const held = holdQuestions(t, task)
    const asked = Array.from({ length: 5 }, () => ask(busy))
    await waitFor(() => held.length > 0)
    const other = ask(quiet)
    await waitFor(() => held.length === 2)
    held.pop()?.()
    t.equal((await other).status, 200, 'the quiet workspace is served while another question is held')
    await releaseAll(held, asked, () => t.equal(held.length, 1))
    // Those that had waited for 3 s when their turn came are refused.
    t.equal((await asked[0])?.status, 200)
    for (const { status } of await Promise.all(asked)) t.ok([200, 429].includes(status), `${status}`)
  })
