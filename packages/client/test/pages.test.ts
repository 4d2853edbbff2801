import t from 'tap'
import { createClient } from '../src/create-client.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

const pages = [
  { tasks: [{ id: 't1' }, { id: 't2' }], nextCursor: 'c1' },
  { tasks: [], nextCursor: 'c2' },
  { tasks: [{ id: 't3' }], nextCursor: null },
].map((body) => ({ status: 200, body }))

const paths = ['limit=2', 'limit=2&cursor=c1', 'limit=2&cursor=c2'].map((query) => `GET /api/tasks?${query}`)

t.test('iteration reads all pages, including empty ones', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, pages)
  const ids: string[] = []
  for await (const task of createClient({ baseUrl }).tasks.list({ limit: 2 })) ids.push(task.id)
  t.same(ids, ['t1', 't2', 't3'])
  t.same(
    asked.map(({ what }) => what),
    paths,
  )
})

t.test('iteration that stops early reads no further page', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, pages)
  for await (const task of createClient({ baseUrl }).tasks.list()) if (task.id === 't2') break
  t.equal(asked.length, 1)
})

t.test('`await` gives the first page', async (t) => {
  const { baseUrl, asked } = await openFlakyServer(t, pages)
  const list = createClient({ baseUrl }).tasks.list()
  t.equal(asked.length, 0, 'nothing is read before')
  t.same(await list, pages[0]?.body)
  t.equal(asked.length, 1)
})

t.test('`all` gives an array', async (t) => {
  const { baseUrl } = await openFlakyServer(t, pages)
  t.equal((await createClient({ baseUrl }).tasks.list().all()).length, 3)
})

t.test('a page that cannot be read throws when iteration reaches it', async (t) => {
  const { baseUrl } = await openFlakyServer(t, pages.slice(0, 1), {
    status: 400,
    body: { error: 'Bad cursor' },
  })
  await t.rejects(createClient({ baseUrl }).tasks.list().all(), { message: 'Bad cursor' })
  await t.rejects(createClient({ baseUrl }).tasks.list(), { message: 'Bad cursor' })
})

for (const cycle of [['c1'], ['c1', 'c2', 'c3']])
  t.test(`a list that repeats its cursors ${cycle} is an error, not an endless loop`, async (t) => {
    const turns = Array.from({ length: 10 }, (_, index) => ({
      status: 200,
      body: { tasks: [{ id: `t${index}` }], nextCursor: cycle[index % cycle.length] },
    }))
    const { baseUrl, asked } = await openFlakyServer(t, turns, { status: 500 })
    await t.rejects(createClient({ baseUrl }).tasks.list().all(), {
      name: 'ApiError',
      message: `The list repeats the cursor c1`,
    })
    t.equal(asked.length, cycle.length + 1)
  })

t.test('a page without items is an error, whether it is awaited or iterated', async (t) => {
  for (const body of [{}, { tasks: null }, { tasks: {} }]) {
    const { baseUrl } = await openFlakyServer(t, [], { status: 200, body })
    const { tasks } = createClient({ baseUrl })
    await t.rejects(Promise.resolve(tasks.list()), { name: 'ApiError' })
    await t.rejects(tasks.list().all(), { name: 'ApiError' })
  }
})
