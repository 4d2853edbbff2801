import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { startPatientClock } from '@automation/launcher/patient-clock'
import t from 'tap'
import { EventWatch } from '../src/watching/event-watch.js'
import { startApi, type Workspace } from './fixtures/api.js'
import { addressOf, storeEvent } from './fixtures/history.js'

const api = await startApi(t)

interface Newest {
  newestId: string | null
  count: number
}

const ask = async ({ callAs }: Workspace, query = '') =>
  (await callAs('viewer')<Newest>('GET', `/api/events/newest?${query}`)).body

t.test('the newest event is found, and newer ones are counted, without deliveries', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  t.strictSame(await ask(workspace), { newestId: null, count: 0 })
  const first = await storeEvent(workspace)
  await storeEvent(workspace, addressOf(newId()))
  t.strictSame(await ask(workspace), { newestId: first.id, count: 0 })
  t.strictSame(await ask(workspace, `after=${first.id}`), { newestId: first.id, count: 0 })
  const second = await storeEvent(workspace)
  const third = await storeEvent(workspace)
  await storeEvent(other)
  t.strictSame(await ask(workspace, `after=${first.id}&wait=25`), { newestId: third.id, count: 2 })
  t.strictSame(await ask(workspace, `after=${second.id.toUpperCase()}`), { newestId: third.id, count: 1 })
  for (const query of ['after=x', 'wait=26', 'wait=-1', 'wait=x', `after=${first.id}%00`])
    t.equal((await workspace.call('GET', `/api/events/newest?${query}`)).status, 400, query)
})

/** Stores an event, and another one as long as these requests wait: on a busy machine, one may begin behind an event. @returns their ids */
async function storeUntil(workspace: Workspace, waiting: Promise<Newest>[]): Promise<string[]> {
  const ids: string[] = []
  const done = Promise.all(waiting)
  for (let isDone = false; !isDone; ) {
    ids.push((await storeEvent(workspace)).id)
    isDone = await Promise.race([done.then(() => true), setTimeout(2_000, false)])
  }
  return ids
}

t.test('a request that waits gets its response soon after the event', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await storeEvent(workspace)
  const waiting = ['', `after=${id}&`, ''].map((after) => ask(workspace, `${after}wait=20`))
  await setTimeout(300)
  const clock = startPatientClock()
  const ids = await storeUntil(workspace, waiting)
  t.ok(clock() < 15_000, `after ${clock()} ms`)
  for (const { newestId, count } of await Promise.all(waiting)) {
    t.ok(ids.includes(newestId ?? ''))
    t.ok(count > 0 && count <= ids.length, `${count} of ${ids.length}`)
  }
  const since = startPatientClock()
  const newestId = ids.at(-1)
  t.strictSame(await ask(workspace, `after=${newestId}&wait=1`), { newestId, count: 0 })
  t.ok(since() < 4_000, 'the time is over')
})

t.test(
  'all who watch a workspace share one read a second, and nobody reads for those who have left',
  async (t) => {
    const watch = new EventWatch()
    t.teardown(() => watch.close())
    const reads: string[] = []
    let newest: string[] = []
    let isGone = false
    const watchAs = (after: string, waitMs = 20_000) =>
      watch.watch('w', {
        after,
        waitMs,
        read: async (floor) => {
          reads.push(floor)
          return newest.filter((id) => id > floor)
        },
        isGone: () => isGone,
      })
    const waiting = Array.from({ length: 50 }, (_, index) => watchAs(index === 7 ? 'a' : 'b'))
    t.strictSame(await watchAs('b'), { newestId: 'b', count: 0 }, 'one more does not wait')
    await setTimeout(20)
    reads.length = 0
    newest = ['d', 'c', 'b']
    const found = await Promise.all(waiting)
    t.strictSame(reads, ['a'], 'for the one that knows least')
    t.strictSame(
      [found[7], found[8]],
      [
        { newestId: 'd', count: 3 },
        { newestId: 'd', count: 2 },
      ],
    )
    const left = watchAs('d')
    isGone = true
    t.strictSame(await left, { newestId: 'd', count: 0 })
    // The workspace is forgotten.
    while (watch.workspaces > 0) await setTimeout(10)
    t.ok(reads.length <= 2)
  },
)

t.test('a read that fails refuses those who wait, and the end of the process keeps nobody', async (t) => {
  const watch = new EventWatch()
  const rest = { after: 'a', waitMs: 20_000, isGone: () => false }
  const fail = () => Promise.reject(new Error('Postgres is unavailable'))
  await t.rejects(watch.watch('w', { ...rest, read: fail }), { message: 'Postgres is unavailable' })
  const waiting = watch.watch('x', { ...rest, read: async () => [] })
  watch.close()
  t.strictSame(await waiting, { newestId: 'a', count: 0 })
  t.match(await watch.watch('x', { ...rest, read: async () => [] }), { count: 0 })
})

t.test('what one watcher says it knows is not the newest event of the others', async (t) => {
  const workspace = await api.makeWorkspace()
  await storeEvent(workspace)
  const first = ask(workspace, 'after=ffffffff-ffff-ffff-ffff-ffffffffffff&wait=3')
  await setTimeout(300)
  const other = ask(workspace, 'wait=20')
  await setTimeout(1_500)
  const ids = await storeUntil(workspace, [other])
  const { newestId, count } = await other
  t.ok(ids.includes(newestId ?? '') && count > 0, `${newestId}: ${count}`)
  t.match(await first, { count: 0 })
})
