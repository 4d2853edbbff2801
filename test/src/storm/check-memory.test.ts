import t from 'tap'
import { checkMemory, type MemoryTables } from './check-memory.js'

const limits = { runs: 1, perMs: 5_000, events: 2, collectMs: 1_500, collected: 2 }
const at = (ms: number) => new Date(Date.UTC(2026, 2, 10) + ms)

/** An event a second for one key, each with an execution that ended so, and the times (ms) of the tasks of each. */
function found(name: string, ends: object[], tasks: number[][], counted: number, told?: string): string {
  const executions = ends.map((end, n) => ({
    id: `x${n}`,
    eventId: `e${n}`,
    handlerId: name,
    error: null,
    ...end,
  }))
  const tables = {
    rules: [{ id: name, name }],
    events: ends.map((_, n) => ({ id: `e${n}`, acceptedAt: at(n * 1_000), data: { n, k: 1 } })),
    executions,
    tasks: tasks.flatMap((all, n) =>
      all.map((ms) => ({ executionId: `x${n}`, title: '', description: told ?? null, createdAt: at(ms) })),
    ),
    counters: [{ ruleId: name, successCount: BigInt(counted) }],
  }
  return checkMemory(tables as unknown as MemoryTables, limits).join('; ')
}

const succeeded = { status: 'succeeded' }
const suppressed = { status: 'suppressed', suppression: { reason: 'at_least', count: 1 } }

t.test('what happened as it must is no violation', async (t) => {
  t.equal(found('atMost', [succeeded, suppressed], [[1]], 1), '')
  t.equal(found('atLeast', [suppressed, succeeded, suppressed], [[], [1]], 1), '')
  t.equal(
    found(
      'queue',
      [succeeded, succeeded],
      [
        [1, 3],
        [4, 6],
      ],
      2,
    ),
    '',
  )
  const replaced = { status: 'cancelled', error: 'replaced by x1' }
  t.equal(found('replace', [replaced, succeeded], [[], [4, 6]], 1), '')
})

t.test('a window with too many, a needless refusal, an overlap and a wrong count are', async (t) => {
  t.match(found('atMost', [succeeded, succeeded], [[1], [2]], 2), 'a window has too many executions')
  t.match(found('atMost', [suppressed], [], 0), 'x0 was refused without need')
  t.match(found('atLeast', [succeeded, succeeded], [[1], [2]], 2), '2 executions of 2 events')
  t.match(found('atLeast', [suppressed, suppressed], [], 0), '0 executions of 2 events')
  t.match(
    found(
      'queue',
      [succeeded, succeeded],
      [
        [1, 5],
        [4, 6],
      ],
      2,
    ),
    'x1 began before x0 had ended',
  )
  t.match(found('skip', [suppressed], [], 0), 'no execution was granted')
  t.match(found('replace', [succeeded, suppressed], [[1, 2]], 1), 'the newest execution x1 is suppressed')
  t.match(found('queue', [succeeded], [[1]], 2), '1 succeeded, 2 are counted')
})

t.test(
  'an event that is in no batch, in one that has ended or in one that did not tell of it is one',
  async (t) => {
    const told = (ns: number[]) => JSON.stringify(ns.map((n) => ({ n })))
    const by = (executionId: string) => ({
      status: 'suppressed',
      suppression: { reason: 'collected', executionId },
    })
    t.equal(found('collect', [succeeded, by('x0')], [[1, 2]], 1, told([0, 1])), '')
    t.match(found('collect', [succeeded, by('x0')], [[1, 2]], 1, told([0])), 'x0 has 2 events, and told [0]')
    t.match(found('collect', [succeeded, by('x9')], [[1, 2]], 1, told([0])), 'x1 is in no batch')
    t.match(
      found('collect', [succeeded, by('x0'), by('x0')], [[1, 2]], 1, told([0, 1, 2])),
      'x2 came after the end of x0',
    )
  },
)
