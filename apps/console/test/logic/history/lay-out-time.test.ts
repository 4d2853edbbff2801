import fc from 'fast-check'
import t from 'tap'
import { layOutLanes, layOutTime, type Piece } from '../../../pages/logic/history/lay-out-time.js'
import { listPieces, sumTime } from '../../../pages/logic/history/list-pieces.js'

const at = (ms: number) => new Date(ms).toISOString()

t.test('a wait of days is folded, and the calls beside it can be seen', async (t) => {
  const day = 86_400_000
  const execution = {
    startedAt: at(100),
    finishedAt: at(100 + 200 + 3 * day + 300),
    results: [
      {
        action: 'SEND_WEBHOOK',
        status: 'success' as const,
        attempts: [{ startedAt: at(100), finishedAt: at(300) }],
      },
      { action: 'WAIT', status: 'success' as const, until: at(300 + 3 * day) },
      {
        action: 'SEND_WEBHOOK',
        status: 'success' as const,
        attempts: [
          { startedAt: at(300 + 3 * day), finishedAt: at(400 + 3 * day), error: 'HTTP 500' },
          { startedAt: at(500 + 3 * day), finishedAt: at(600 + 3 * day) },
        ],
      },
    ],
  }
  const time = listPieces(execution, 0, 0)
  t.strictSame(
    time.actions.map((pieces) => pieces.map(({ kind, from, to }) => [kind, to - from])),
    [
      [['done', 200]],
      [['wait', 3 * day]],
      [
        ['failed', 100],
        ['pause', 100],
        ['done', 100],
      ],
    ],
  )
  t.strictSame(sumTime(time, 4 * day), { worked: 400, waited: 3 * day + 100 })
  const { lanes, folds } = layOutLanes(time)
  t.match(folds, [{ ms: 3 * day, width: 12 }])
  t.equal(lanes[0]?.length, 2, 'what came before the first action is in its lane')
  for (const { width } of lanes.flat()) t.ok(width > 5, `${width}`)
})

t.test('what is in progress, due later or has not begun', async (t) => {
  t.strictSame(listPieces({ startedAt: null, finishedAt: null, results: [] }, 100, 400), {
    queue: [{ kind: 'queue', from: 100, to: 400 }],
    actions: [],
  })
  const retrying = {
    action: 'SEND_WEBHOOK',
    status: 'retrying' as const,
    until: at(5_000),
    attempts: [{ startedAt: at(100), finishedAt: at(200), error: 'HTTP 500' }],
  }
  const time = listPieces({ startedAt: at(100), finishedAt: null, results: [retrying] }, 100, 300)
  t.strictSame(time.actions, [
    [
      { kind: 'failed', from: 100, to: 200 },
      { kind: 'pause', from: 200, to: 5_000 },
    ],
  ])
  t.strictSame(sumTime(time, 300), { worked: 100, waited: 100 }, 'only until now')
  const running = { action: 'SEND_WEBHOOK', status: 'running' as const, attempts: [{ startedAt: at(100) }] }
  t.match(listPieces({ startedAt: at(100), finishedAt: null, results: [running] }, 100, 300).actions, [
    [{ kind: 'running', from: 100, to: 300 }],
  ])
})

t.test('what a commit has done is seen at its place, and has no length', async (t) => {
  const task = { action: 'CREATE_TASK', status: 'success' as const }
  const wait = { action: 'WAIT', status: 'scheduled' as const, until: at(9_100) }
  const time = listPieces({ startedAt: at(100), finishedAt: null, results: [task, wait] }, 50, 300)
  t.strictSame(time.actions, [
    [{ kind: 'done', from: 100, to: 100 }],
    [{ kind: 'wait', from: 100, to: 9_100 }],
  ])
  const { lanes } = layOutLanes(time)
  t.match(lanes[0], [{ kind: 'done', x: 0 }], 'without what came before, which would be all that is seen')
})

t.test('every piece is drawn inside, in the order of time', async () => {
  const kind = fc.constantFrom<Piece['kind']>('queue', 'done', 'failed', 'running', 'wait', 'pause')
  const piece = fc
    .record({ kind, from: fc.nat(1e9), ms: fc.nat(1e9) }, { noNullPrototype: true })
    .map(({ kind, from, ms }) => ({ kind, from, to: from + ms }))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const placed = layOutTime(pieces).pieces
      const inside = placed.every(({ x, width }) => x >= 0 && width > 0 && x + width <= 100.000_1)
      const sorted = placed.toSorted((left, right) => left.from - right.from)
      return inside && sorted.every(({ x }, index) => index === 0 || x >= (sorted[index - 1]?.x ?? 0))
    }),
  )
})
