import { newId } from '@automation/database'
import t from 'tap'
import { startApi, type Workspace } from './fixtures/api.js'
import { idAt, storeEvent, storeExecution } from './fixtures/history.js'
import { statementsOf } from './fixtures/security/sql-recorder.js'

interface Page {
  tasks: { id: string; eventId: string | null; eventType: string | null; excerpt?: object }[]
  nextCursor: string | null
}

const api = await startApi(t)
let moment = Date.now() - 3_600_000

/** A task of an event with this data; the next one is newer. */
async function storeTask(workspace: Workspace, data: object, fields: object = {}) {
  const { id: workspaceId, database } = workspace
  moment += 1_000
  const createdAt = new Date(moment)
  const ruleId = newId()
  const event = await storeEvent(workspace, { data, acceptedAt: createdAt, ruleIds: [ruleId] })
  const { id: executionId } = await storeExecution(workspace, event, ruleId)
  const id = idAt(createdAt)
  await database.task.create({
    data: {
      ...{ id, workspaceId, executionId, actionIndex: 0, ruleId, title: 'Call them', priority: 'normal' },
      ...{ createdAt, ...fields },
    },
  })
  return { id, eventId: event.id, executionId, ruleId }
}

async function find(workspace: Workspace, query: string): Promise<string[]> {
  const { status, body } = await workspace.call<Page>('GET', `/api/tasks?${query}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.tasks.map(({ id }) => id)
}

t.test('tasks are found by words of title, description and data of the event, in any case', async (t) => {
  const workspace = await api.makeWorkspace()
  const ada = await storeTask(workspace, { company: { name: 'Umbrella' }, city: 'İstanbul' })
  const grace = await storeTask(workspace, { amount: 1500 }, { title: 'Call Grace', priority: 'high' })
  const bo = await storeTask(workspace, { name: 'Bo' }, { description: 'Umbrella: renewal for Grace' })
  const stranger = await api.makeWorkspace()
  await storeTask(stranger, { name: 'Umbrella' })
  t.strictSame(await find(workspace, 'q=umbrella'), [bo.id, ada.id])
  t.strictSame(await find(workspace, 'q=GRACE+umb'), [bo.id], 'each word in one of them')
  t.strictSame(await find(workspace, 'q=umbrella+them'), [bo.id, ada.id], 'one in the title, one in the data')
  t.strictSame(await find(workspace, 'q=1500'), [grace.id])
  t.strictSame(await find(workspace, 'q=istanbul'), [ada.id])
  t.strictSame(await find(workspace, 'q=title'), [], 'a name of a field is no word')
  t.strictSame(await find(workspace, 'q=company'), [])
  t.strictSame(await find(workspace, 'q=+'), [bo.id, grace.id, ada.id], 'no word is no filter')
  t.strictSame(await find(workspace, `q=umbrella&ruleId=${ada.ruleId}`), [ada.id])
  t.strictSame(await find(workspace, 'q=grace&priority=high'), [grace.id])
  t.strictSame(await find(workspace, 'q=umbrella&to=2020-01-01'), [])
  t.equal((await workspace.call('GET', `/api/tasks?q=${'x'.repeat(201)}`)).status, 400)
  t.equal((await workspace.call('GET', '/api/tasks?q=%00')).status, 400)
})

t.test(
  'pages of words are the whole, each full while there are more, whatever a filter leaves out',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const stored: string[] = []
    for (let index = 0; index < 16; index++) {
      const data = { name: index % 2 === 0 ? 'Grace' : 'Ada' }
      stored.push((await storeTask(workspace, data, index % 4 === 0 ? { assigneeId: 'bo' } : {})).id)
    }
    for (const [filter, step] of [
      ['', 2],
      ['&assigneeId=bo', 4],
    ] as const) {
      const seen: string[] = []
      let cursor = ''
      for (;;) {
        const { body } = await workspace.call<Page>('GET', `/api/tasks?q=grace&limit=2${filter}${cursor}`)
        seen.push(...body.tasks.map(({ id }) => id))
        if (body.nextCursor === null) break
        t.equal(body.tasks.length, 2)
        cursor = `&cursor=${body.nextCursor}`
      }
      t.strictSame(seen, stored.filter((_, index) => index % step === 0).reverse(), filter)
    }
  },
)

t.test('a task is found beside large data, and with what is left once its event was removed', async (t) => {
  const workspace = await api.makeWorkspace()
  const first = await storeTask(workspace, { name: 'Initech' })
  for (let index = 0; index < 3; index++) await storeTask(workspace, { text: 'x'.repeat(900_000) })
  const gone = await storeTask(workspace, { name: 'Initech' }, { title: 'Call Hooli' })
  t.strictSame(await find(workspace, 'q=initech'), [gone.id, first.id], 'in several slices')
  await workspace.database.execution.deleteMany({ where: { id: gone.executionId } })
  await workspace.database.event.deleteMany({ where: { id: gone.eventId } })
  t.strictSame(await find(workspace, 'q=initech'), [first.id])
  t.strictSame(await find(workspace, 'q=hooli'), [gone.id])
  const { body } = await workspace.call<Page>('GET', '/api/tasks?q=hooli&excerpt=true')
  t.match(body.tasks, [{ eventId: null, eventType: null, excerpt: {} }])
})

t.test('a control character is found in a title and in data', async (t) => {
  const workspace = await api.makeWorkspace()
  const bell = await storeTask(workspace, {}, { title: 'Ring the bell\u0007' })
  const bold = await storeTask(workspace, { label: '\u001b[1mBold' })
  t.strictSame(await find(workspace, 'q=BELL%07'), [bell.id])
  t.strictSame(await find(workspace, 'q=%1B[1m'), [bold.id])
  t.strictSame(await find(workspace, 'q=%08'), [])
})

t.test('a search asks for the events of its tasks, and never reads all executions', async (t) => {
  const workspace = await api.makeWorkspace()
  const { eventId, executionId } = await storeTask(workspace, { name: 'Ada' })
  const { system, run } = api.app.database
  // Few enough for Postgres to read all of them at once, if a statement lets it.
  for (const [table, id] of [
    ['events', eventId],
    ['executions', executionId],
    ['tasks', undefined],
  ] as const)
    await system.$executeRawUnsafe(`
      INSERT INTO ${table} SELECT (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid()${
        id === undefined ? ", 'action_index', n" : ''
      }))).* FROM ${table} AS one, generate_series(1, 2500) AS n
      WHERE ${id === undefined ? `execution_id = '${executionId}'` : `id = '${id}'`}`)
  await system.$executeRaw`ANALYZE tasks, executions, events`
  const statements = await statementsOf(() => find(workspace, 'q=nobody'))
  const scans = statements.filter(({ text }) => /WITH bounded/.test(text))
  t.equal(scans.length, 3, 'of 1,000 tasks each')
  for (const [index, { text, values }] of scans.entries()) {
    const lines = await run<{ 'QUERY PLAN': string }>(`explain scan ${index}`, `EXPLAIN ${text}`, values)
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n')
    t.match(plan, /Index Cond: .*bounded\.execution_id/)
    // The lowest leaves have some twenty rows of the time before all others.
    t.notMatch(plan, /Seq Scan on (?:executions|events)(?!_low)/, plan)
    t.match(plan, /Index Cond: .*id = execution\w*\.event_id/, 'an event is found by its id')
  }
})

t.test('a task names its event, and in a list some of its data', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, eventId } = await storeTask(workspace, { company: 'Umbrella', name: 'Ada' })
  const { body } = await workspace.call<Page>('GET', '/api/tasks?excerpt=true')
  t.match(body.tasks, [
    { id, eventId, eventType: 'LEAD_CREATED', excerpt: { company: 'Umbrella', name: 'Ada' } },
  ])
  const plain = (await workspace.call<Page>('GET', '/api/tasks')).body
  t.notOk(
    plain.tasks.some((task) => 'excerpt' in task),
    'only if asked for',
  )
  t.match(await workspace.call('GET', `/api/tasks/${id}`), {
    status: 200,
    body: { id, eventId, eventType: 'LEAD_CREATED' },
  })
})
