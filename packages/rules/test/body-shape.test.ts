import t from 'tap'
import { createBodyCompiler, FullDefinition, formatShapeFaults } from '../src/index.js'

const hasShape = createBodyCompiler()(FullDefinition)
const actions = [{ type: 'CREATE_TASK', config: { title: 'Call' } }]
const rule = (conditions: object[]) => ({
  name: 'Hot leads',
  description: '',
  trigger: 'LEAD_CREATED',
  group: null,
  schedule: null,
  order: null,
  perKey: null,
  conditions,
  actions,
})

t.test('faults that were found are not copied for each further one', async (t) => {
  let copies = 0
  const { concat } = Array.prototype
  t.teardown(() => {
    Array.prototype.concat = concat
  })
  Array.prototype.concat = function (...items: unknown[]) {
    copies++
    return concat.apply(this, items)
  }
  hasShape(rule([{}, { any: [{}, { not: {} }] }, {}]))
  Array.prototype.concat = concat
  t.equal(copies, 0)
  t.strictSame(
    formatShapeFaults(hasShape.errors ?? []).map(({ field }) => field),
    [
      '[0].field',
      '[0].operator',
      '[1].any[0].field',
      '[1].any[0].operator',
      '[1].any[1].not.field',
      '[1].any[1].not.operator',
      '[2].field',
      '[2].operator',
    ].map((path) => `conditions${path}`),
  )
})

t.test('a thousand faults are listed, and a last one says that there are more', async (t) => {
  for (const [count, listed] of [
    [500, 1_000],
    [501, 1_001],
    [5_000, 1_001],
  ] as const) {
    t.equal(hasShape(rule(Array.from({ length: count }, () => ({})))), false)
    const faults = formatShapeFaults(hasShape.errors ?? [])
    t.equal(faults.length, listed)
    const last = { field: '', message: 'Only the first 1000 faults are listed' }
    t.equal(
      faults.some((fault) => fault.message === last.message),
      listed > 1_000,
    )
    if (listed > 1_000) t.strictSame(faults.at(-1), last)
    t.equal(formatShapeFaults(hasShape.errors ?? [], Number.POSITIVE_INFINITY).length, 2 * count)
  }
})
