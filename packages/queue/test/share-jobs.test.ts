import { newId } from '@automation/database'
import type { Addressee } from '@automation/ledger'
import t from 'tap'
import { type Arrival, shareJobs } from '../src/share-jobs.js'

const mebibyte = 1_048_576

const [quiet, other, busy] = [newId(), newId(), newId()]
const arrive = (workspaceId: string, replyTo?: string, addressee: Addressee | null = null): Arrival => ({
  event: { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {}, addressee },
  replyTo,
})
const placeOf = ({ workspaceId }: { workspaceId: string }) => (workspaceId === busy ? 7 : 0)
const idsOf = (arrivals: Arrival[]) => arrivals.map(({ event }) => event.id)

t.test('events of owners within their share are in one job, up to 100', async (t) => {
  const arrivals = Array.from({ length: 210 }, (_, index) => arrive(index % 2 ? quiet : other))
  const jobs = shareJobs(arrivals, placeOf)
  t.same(
    jobs.map(({ events }) => events.map(({ id }) => id)),
    [0, 100, 200].map((from) => idsOf(arrivals.slice(from, from + 100))),
  )
  t.same(
    jobs.map(({ id, priority }) => [id, priority]),
    [0, 100, 200].map((from) => [arrivals[from]?.event.id, 0]),
    'a job has the id of its first event',
  )
})

t.test(
  'the events of a job have at most 1 MiB together, and a larger one has a job of its own',
  async (t) => {
    const sizes = [mebibyte - 1_000, 1_000, 1, 2 * mebibyte, 1]
    const arrivals = sizes.map((bytes) => {
      const { event, replyTo } = arrive(quiet)
      return { event: { ...event, bytes }, replyTo }
    })
    t.strictSame(
      shareJobs(arrivals, placeOf).map(({ events }) => events.length),
      [2, 1, 1, 1],
    )
  },
)

t.test('events whose workspaces belong to different queues share no job', async (t) => {
  const workspaces = ['00000001', '00000002', '00000005', '00000004'].map((end) => newId().slice(0, -8) + end)
  const arrivals = workspaces.map((workspaceId) => arrive(workspaceId))
  const [one, two, five, four] = idsOf(arrivals)
  const share = (queues: number) =>
    shareJobs(arrivals, placeOf, queues).map(({ events }) => events.map(({ id }) => id))
  t.strictSame(share(1), [[one, two, five, four]])
  t.strictSame(share(4), [[one, five], [two], [four]])
})

t.test('events of a backlog have jobs of their own, with a lower priority', async (t) => {
  const arrivals = [arrive(quiet), arrive(busy), arrive(other), arrive(busy)]
  t.strictSame(
    shareJobs(arrivals, placeOf).map(({ priority, events }) => [
      priority,
      events.map((one) => one.workspaceId),
    ]),
    [
      [0, [quiet, other]],
      [7, [busy, busy]],
    ],
  )
})

t.test('events of one creator beyond its share are in one job, and not with those of others', async (t) => {
  const of = (createdBy: string | null, workspaceId = newId()): Arrival => {
    const { event, replyTo } = arrive(workspaceId)
    return { event: { ...event, createdBy }, replyTo }
  }
  const root = newId()
  const arrivals = [
    of('user:one'),
    of('user:two'),
    of('user:one'),
    of(null),
    of(`workspace:${root}`),
    of(null, root),
  ]
  t.strictSame(
    shareJobs(arrivals, () => 1).map(({ events }) => events.map(({ id }) => id)),
    [[0, 2], [1], [3], [4, 5]].map((indexes) => indexes.map((index) => arrivals[index]?.event.id)),
  )
})

t.test(
  'events without a waiting caller, and events addressed to one rule, have jobs of their own',
  async (t) => {
    const arrivals = [
      arrive(quiet),
      arrive(quiet, 'api'),
      arrive(quiet, 'api', { kind: 'rule', id: newId() }),
      arrive(quiet),
    ]
    t.strictSame(
      shareJobs(arrivals, placeOf).map(({ replyTo, events }) => [replyTo, events.length]),
      [
        [undefined, 2],
        ['api', 1],
        ['api', 1],
      ],
    )
  },
)
