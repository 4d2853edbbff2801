import { newId } from '@automation/database'
import t, { type Test } from 'tap'
import { refusals } from '../src/errors.js'
import { ruleBody, startApi, type Workspace } from './fixtures/api.js'

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

/** Others keep the thread busy: of these questions it refuses all turns but those named. */
function refuseTurns(t: Test, task: string, isServed: (turn: number) => boolean) {
  const { judge } = api.app
  const run = judge.run.bind(judge)
  let turns = 0
  t.intercept(judge, 'run', {
    value: async (...[caller, name, input]: Parameters<typeof run>) => {
      if (name === task && !isServed(turns++)) throw refusals.tooManyJudgings()
      return run(caller, name, input)
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
  refuseTurns(t, 'matchEvents', (turn) => turn === 0)
  const first = await workspace.call<{ scanned: number; nextCursor: string }>('POST', '/api/events/search', {
    body: rare,
  })
  t.match(first, { status: 200, body: { events: [], scanned: 1_000, nextCursor: String } })
  const second = await workspace.call('POST', '/api/events/search', {
    body: { ...rare, cursor: first.body.nextCursor },
  })
  t.match(second, { status: 429, headers: { 'retry-after': '1' } }, 'one that came nowhere is refused')
})

t.test('a survey that gets no second turn says that it is not complete', async (t) => {
  const workspace = await api.makeWorkspace()
  await storeEvents(workspace, 2_500)
  refuseTurns(t, 'surveyEvents', (turn) => turn === 0)
  t.match(await workspace.call('GET', '/api/event-types/LEAD_CREATED/fields?events=2500'), {
    status: 200,
    body: { events: 1_000, isComplete: false },
  })
})

t.test('a question that would end after its deadline is refused, and does not wait', async (t) => {
  const { id: workspaceId } = await api.makeWorkspace()
  const ask = (msLeft: number) =>
    api.app.judge.run(
      { workspaceId, dueAt: performance.now() + msLeft, isGone: () => false },
      'findFaults',
      ruleBody(),
    )
  const [running, waiting, late] = [ask(10_000), ask(10_000), ask(100)]
  t.match(await late.catch((error) => error), { statusCode: 429 })
  t.same(await Promise.all([running, waiting]), [[], []])
})
