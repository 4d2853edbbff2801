import { TooMuchAtOnce } from '@automation/admission'
import { newId } from '@automation/database'
import t, { type Test } from 'tap'
import { refusals } from '../src/errors.js'
import { evaluationTurns } from '../src/evaluation/evaluator.js'
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

/** Others keep the child process busy: of these questions it refuses all turns but those named. */
function refuseTurns(t: Test, task: string, isServed: (turn: number) => boolean) {
  const { evaluator } = api.app
  const run = evaluator.run.bind(evaluator)
  let turns = 0
  t.intercept(evaluator, 'run', {
    value: async (...[caller, name, input]: Parameters<typeof run>) => {
      if (name === task && !isServed(turns++))
        throw refusals.tooManyEvaluations(evaluationTurns, new TooMuchAtOnce())
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
  const [{ id: own }, { id: other }] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const ask = (msLeft: number, workspaceId = own) =>
    api.app.evaluator.run(
      { workspaceId, dueAt: performance.now() + msLeft, isGone: () => false },
      'findFaults',
      ruleBody(),
    )
  const [running, waiting, late, behind] = [ask(10_000), ask(10_000), ask(100), ask(100, other)]
  const [ofOwn, ofOther] = [late.catch((error) => error), behind.catch((error) => error)]
  t.match(await ofOwn, { statusCode: 429, body: { error: /checks of this workspace/ } })
  t.match(await ofOther, {
    statusCode: 429,
    body: { error: /checks of other workspaces: this one got no turn/ },
  })
  t.same(await Promise.all([running, waiting]), [[], []])
})

/** Questions wait before the child process until they are released. @returns the workspaces of those that wait, in order */
function holdQuestions(t: Test, task: string) {
  const { evaluator } = api.app
  const run = evaluator.run.bind(evaluator)
  const held: { workspaceId: string; release: () => void }[] = []
  t.intercept(evaluator, 'run', {
    value: async (...[caller, name, input]: Parameters<typeof run>) => {
      if (name === task)
        await new Promise<void>((resolve) => {
          held.push({ workspaceId: caller.workspaceId, release: resolve })
        })
      return run(caller, name, input)
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
    held.pop()?.release()
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
  t.test(
    `of a workspace one ${task} at a time holds its rules, and others are served meanwhile`,
    async (t) => {
      const [busy, quiet] = [await api.makeWorkspace(), await api.makeWorkspace()]
      for (const workspace of [busy, quiet]) {
        await workspace.call('POST', rules, { body: ruleBody() })
        await storeEvents(workspace, 1)
      }
      const held = holdQuestions(t, task)
      const asked = Array.from({ length: 5 }, () => ask(busy))
      await waitFor(() => held.length > 0)
      const other = ask(quiet)
      await waitFor(() => held.some(({ workspaceId }) => workspaceId === quiet.id))
      t.strictSame(
        held.map(({ workspaceId }) => workspaceId),
        [busy.id, quiet.id],
      )
      held.pop()?.release()
      t.equal((await other).status, 200, 'the quiet workspace is served while another question is held')
      await releaseAll(held, asked, () => t.equal(held.length, 1))
      // Those that had waited for 3 s when their turn came are refused.
      t.equal((await asked[0])?.status, 200)
      for (const { status } of await Promise.all(asked)) t.ok([200, 429].includes(status), `${status}`)
    },
  )

t.test('a workspace that asks for its rules too often at a time gets 429', async (t) => {
  const workspace = await api.makeWorkspace()
  const held = holdQuestions(t, 'checkSet')
  const asked = Array.from({ length: 110 }, () => questions.checkSet(workspace))
  const refused = await Promise.race(
    asked.map(async (question) => {
      const answer = await question
      return answer.status === 200 ? new Promise<typeof answer>(() => {}) : answer
    }),
  )
  t.match(refused, {
    status: 429,
    body: { error: /explanations.*1 at a time, 100 more wait for up to 3000 ms/ },
    headers: { 'retry-after': '1' },
  })
  await releaseAll(held, asked)
})
