import t from 'tap'
import { compileRule } from '../src/planning/compile-rule.js'
import { simulatePlan } from '../src/planning/progress.js'
import { planRule, type ReadyAction } from '../src/planning/run.js'
import type { Action } from '../src/rule.js'
import { maxRenderedLength } from '../src/values/to-text.js'
import { findRuleWarnings } from '../src/warnings/rule-warnings.js'
import { Evaluation } from '../src/work/evaluation.js'
import { faultsOf } from './fixtures/plan-one.js'

const data = { sku: '{{item.sku}}', order: '{{id}}', total: '{{item.price | times:item.qty}}' }

function plan(config: object, event: object) {
  const action = { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', ...config } } as Action
  const [planned] = planRule(compileRule({ conditions: [], actions: [action] }), event, 0).actions
  if (planned === undefined || 'skipped' in planned) throw new Error('It is planned')
  return planned
}

t.test(
  'each item of a list is an event, in whose data item is the item and all else the event',
  async (t) => {
    const items = [
      { sku: 'A', price: 1.1, qty: 3 },
      { sku: 'B', price: 2, qty: 1 },
    ]
    const planned = plan(
      { forEach: 'order.items', data },
      { id: 7, item: 'hidden', order: { items } },
    ) as ReadyAction
    t.strictSame(planned.events, [
      { index: 0, data: { sku: 'A', order: 7, total: 3.3 } },
      { index: 1, data: { sku: 'B', order: 7, total: 2 } },
    ])
    t.strictSame(planned.config, { eventType: 'DEAL_WON', forEach: 'order.items' })
    const whole = plan({ forEach: 'list', data: '{{item}}' }, { list: [{ a: 1 }] }) as ReadyAction
    t.strictSame(whole.events, [{ index: 0, data: { a: 1 } }])
  },
)

t.test('a rule without forEach reads a field named item of its event', async (t) => {
  const planned = plan({ data: { it: '{{item}}' } }, { item: 5 }) as ReadyAction
  t.strictSame(planned.config, { eventType: 'DEAL_WON', data: { it: 5 } })
  t.notOk('events' in planned)
})

t.test('what is no list is no event, with a warning; an empty list is none', async (t) => {
  const of = (event: object) => plan({ forEach: 'items', data }, event)
  t.match(of({}), { events: { length: 0 }, warnings: ['items is missing: forEach reads lists'] })
  t.match(of({ items: 'A,B' }), { events: { length: 0 }, warnings: ['items is "A,B": forEach reads lists'] })
  t.match(of({ items: { a: 1 } }), {
    events: { length: 0 },
    warnings: ['items is an object: forEach reads lists'],
  })
  t.match(of({ items: [] }), { events: { length: 0 }, warnings: { length: 0 } })
})

t.test('an action emits at most 500 events, and with more none', async (t) => {
  const items = (length: number) => Array.from({ length }, () => ({}))
  const config = { forEach: 'items', data: { a: 1 } }
  t.equal((plan(config, { items: items(500) }) as ReadyAction).events?.length, 500)
  for (const length of [501, 20_000])
    t.match(plan(config, { items: items(length) }), {
      fault: `config.forEach: items has ${length} items, and an action emits at most 500 events`,
    })
})

t.test(
  'where chooses the items, each by its own fields, and the index is that of the whole list',
  async (t) => {
    const items = [
      { sku: 'A', qty: 2 },
      { sku: 'B', qty: 9 },
      { sku: 'C', qty: 1, limit: 0 },
      'no object',
      { sku: 'D', qty: 7, limit: 10 },
    ]
    const of = (where: object[]) => {
      const planned = plan({ forEach: 'items', where, data: { sku: '{{item.sku}}' } }, { items })
      return 'events' in planned
        ? planned.events?.map(({ index, data }) => [index, (data as { sku: string }).sku])
        : planned
    }
    const enough = { field: 'qty', operator: 'gt', value: 1 }
    t.strictSame(of([enough]), [
      [0, 'A'],
      [1, 'B'],
      [4, 'D'],
    ])
    t.strictSame(of([enough, { field: 'sku', operator: 'not_equals', value: 'B' }]), [
      [0, 'A'],
      [4, 'D'],
    ])
    t.strictSame(of([{ field: 'qty', operator: 'not_exists' }]), [[3, '']])
    t.strictSame(of([{ field: 'qty', operator: 'lt', value: { field: 'limit' } }]), [[4, 'D']])
    t.strictSame(of([{ field: 'sku', operator: 'equals', value: { root: 'items[1].sku' } }]), [[1, 'B']])
    t.strictSame(of([{ field: '.', operator: 'equals', value: 'no object' }]), [[3, '']])
    t.strictSame(of([{ field: 'qty', operator: 'gt', value: 100 }]), [])
    const many = Array.from({ length: 20_000 }, (_, n) => ({ n }))
    const config = {
      forEach: 'many',
      where: [{ field: 'n', operator: 'lt', value: 500 }],
      data: { n: '{{item.n}}' },
    }
    t.equal((plan(config, { many }) as ReadyAction).events?.length, 500, 'of a long list')
    t.match(plan({ ...config, where: [{ field: 'n', operator: 'lt', value: 501 }] }, { many }), {
      fault:
        'config.forEach: many has more than 500 items that fulfil where, and an action emits at most 500 events',
    })
  },
)

t.test('where compares times with the moment of the action', async (t) => {
  const rule = compileRule({
    conditions: [],
    actions: [
      { type: 'WAIT', config: { duration: '2d' } },
      {
        type: 'EMIT_EVENT',
        config: {
          eventType: 'DEAL_WON',
          forEach: 'items',
          where: [{ field: 'dueAt', operator: 'within_next', value: '1d' }],
          data: { at: '{{item.dueAt}}' },
        },
      },
    ],
  })
  const items = [{ dueAt: '2026-03-01T12:00:00Z' }, { dueAt: '2026-03-03T12:00:00Z' }]
  const [, emit] = planRule(rule, { items }, Date.parse('2026-03-01T00:00:00Z')).actions
  t.match(emit, { events: [{ index: 1 }] })
})

t.test('the work of where is charged for each item', async (t) => {
  const items = Array.from({ length: 20_000 }, () => ({ text: 'x'.repeat(40) }))
  const where = Array.from({ length: 5 }, () => ({
    field: 'text',
    operator: 'contains',
    value: 'y'.repeat(500),
  }))
  const rule = compileRule({
    conditions: [],
    actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', forEach: 'items', where, data: {} } }],
  })
  t.match(planRule(rule, { items }, 0, { rule: 10_000, event: 10_000 }).actions, [
    { fault: /evaluation limit/ },
  ])
})

t.test('the data of each event is an object', async (t) => {
  t.match(plan({ forEach: 'items', data: '{{item}}' }, { items: [{}, 'B', {}] }), {
    fault: 'config.data must be an object, and is "B" for item 1 of the list',
  })
  t.match(plan({ forEach: 'items', data: '{{item.x}}' }, { items: [{}] }), { fault: /is "" for item 0/ })
})

t.test(
  'all events of an action together render at most a mebibyte, also what the author wrote',
  async (t) => {
    const items = Array.from({ length: 500 }, () => ({ text: 'x'.repeat(1_000) }))
    const fault = `config renders to more than ${maxRenderedLength} characters`
    for (const each of [
      { a: '{{item.text}}', b: '{{item.text}}', c: '{{item.text}}' },
      { a: 'y'.repeat(20_000) },
    ]) {
      const startedAt = process.memoryUsage().heapUsed
      t.match(plan({ forEach: 'items', data: each }, { items }), { fault })
      t.ok(process.memoryUsage().heapUsed - startedAt < 50_000_000)
    }
    t.equal((plan({ forEach: 'items', data: '{{item}}' }, { items }) as ReadyAction).events?.length, 500)
  },
)

t.test('the work of each item is charged before it is done', async (t) => {
  const items = Array.from({ length: 500 }, () => ({}))
  const texts = Object.fromEntries(
    Array.from({ length: 190 }, (_, n) => [`f${n}`, '{{item.a | default:"x" | upper}}']),
  )
  const evaluation = new Evaluation(0)
  const rule = compileRule({
    conditions: [],
    actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', forEach: 'items', data: texts } }],
  })
  planRule(rule, { items }, 0, { rule: 100_000, event: 100_000 })
  t.match(planRule(rule, { items }, 0, { rule: 100_000, event: 100_000 }).actions, [
    { fault: /evaluation limit/ },
  ])
  t.equal(evaluation.spent, 0)
})

t.test('a dry run shows the events', async (t) => {
  const rule = compileRule({
    conditions: [],
    actions: [
      { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', forEach: 'items', data: { a: '{{item}}' } } },
    ],
  })
  t.match(simulatePlan(planRule(rule, { items: [1, 2] }, 0)), {
    results: [
      {
        status: 'simulated',
        config: {
          forEach: 'items',
          events: [
            { index: 0, data: { a: 1 } },
            { index: 1, data: { a: 2 } },
          ],
        },
      },
    ],
  })
})

t.test('faults of forEach are reported when the rule is saved', async (t) => {
  const faults = (config: object) => faultsOf('EMIT_EVENT', { eventType: 'DEAL_WON', ...config })
  t.strictSame(faults({ forEach: 'items', data }), [])
  t.strictSame(faults({ forEach: 'items' }), [
    'actions[0].config.data Is required with forEach: {{item}} is the item there',
  ])
  t.match(faults({ forEach: 'a..b', data }), [
    'actions[0].config.forEach Must be the path of a list, such as items or order.lines',
  ])
  const where = [{ field: 'n', operator: 'exists' }]
  t.strictSame(faults({ forEach: 'items', where, data }), [])
  t.strictSame(faults({ where, data }), ['actions[0].config.where Must stand beside forEach'])
  t.match(faults({ forEach: 'items', where: [{ field: 'a..b', operator: 'exists' }], data }), [
    /config.where\[0\].field Must be a field path/,
  ])
  t.match(faults({ forEach: 'items', where: [{ field: 'a', operator: 'matches', value: '(' }], data }), [
    /config.where\[0\].value/,
  ])
  t.match(faults({ forEach: 'items', where: Array(51).fill(where[0]), data }), [/at most 50 conditions/])
  t.strictSame(
    faults({ forEach: 'items', where: [{ field: 'a', operator: 'equals', value: '{{' }], data }),
    [],
  )
  t.match(faults({ forEach: 'items', where: [{ count: 'lots', operator: 'gt', value: 1 }], data }), [
    /config.where\[0\].count Must not be a list within a list/,
  ])
  t.match(faults({ forEach: 'items', data: { a: '{{item | shout}}' } }), [
    /config.data.a Has an unknown filter/,
  ])
})

t.test('warnings know the fields of the event, and not those of an item', async (t) => {
  const rule = (config: object) => ({
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON', ...config } } as Action],
  })
  t.strictSame(findRuleWarnings(rule({ forEach: 'tags', data: { a: '{{item.nmae}} {{items}}' } })), [])
  t.match(findRuleWarnings(rule({ forEach: 'tgas', data: { a: '{{nmae}}' } })), [
    { field: 'actions[0].config.forEach', message: 'Did you mean tags instead of tgas?' },
    { field: 'actions[0].config.data', message: 'Did you mean name instead of nmae?' },
  ])
})
