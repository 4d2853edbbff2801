import { newId, openPatiently } from '@automation/database'
import type { NewEvent } from '@automation/ledger'
import t from 'tap'
import { openQueue } from '../src/event-queue.js'
import { BatchingInbox } from '../src/inbox.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 3)
const queue = openQueue(process.env.REDIS_URL ?? '', `{test-${newId()}}`)
t.teardown(async () => {
  await queue.close()
  await database.close()
})

t.test('a statement accepts at most 8 MiB, and a larger input has one of its own', async (t) => {
  await queue.isReady(5_000)
  const workspaceId = newId()
  const mebibyte = 1_048_576
  const events = [8 * mebibyte - 1_000, 1_000, 1, 9 * mebibyte, 1].map(
    (bytes): NewEvent => ({
      id: newId(),
      workspaceId,
      type: 'LEAD_CREATED',
      data: {},
      bytes,
      addressee: null,
    }),
  )
  const ways: Record<string, (inbox: BatchingInbox, event: NewEvent) => Promise<unknown>> = {
    accept: (inbox, event) => inbox.accept({ ...event, id: newId() }),
    acceptOnce: (inbox, event) => {
      const request = { workspaceId, key: newId(), requestHash: '00' }
      return inbox.acceptOnce({ request, event: { ...event, id: newId() }, answer: null })
    },
  }
  for (const [name, accept] of Object.entries(ways)) {
    const sizes: number[] = []
    const inbox = new BatchingInbox(database, queue, (accepted) => sizes.push(accepted))
    await Promise.all(events.map((event) => accept(inbox, event)))
    await inbox.close()
    t.strictSame(sizes, [2, 1, 1, 1], name)
  }
  t.equal(await database.system.event.count({ where: { workspaceId } }), 2 * events.length)
})

t.test('several events are accepted all or none, also where Postgres refuses one of them', async (t) => {
  const workspaceId = newId()
  const make = (text: string): NewEvent => ({
    id: newId(),
    workspaceId,
    type: 'LEAD_CREATED',
    data: { text },
    addressee: null,
  })
  const inbox = new BatchingInbox(database, queue)
  const [single, good] = [make('a'), make('b')]
  const bad = { ...make('c'), id: good.id }
  await Promise.all([inbox.accept(single), t.rejects(inbox.acceptAll([good, bad]), { code: '23505' })])
  await inbox.acceptAll([make('c'), make('d')])
  await inbox.close()
  const rows = await database.system.event.findMany({ where: { workspaceId }, orderBy: { id: 'asc' } })
  t.strictSame(
    rows.map(({ data }) => data),
    ['a', 'c', 'd'].map((text) => ({ text })),
  )
})
