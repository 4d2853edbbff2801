import type { CheckedRule } from '@automation/engine'
import {
  measureCoverage,
  mutateClauses,
  prepareRules,
  type RuleTest,
  runTests,
  simulateEvents,
  writeJunit,
} from '@automation/rule-tests'
import t from 'tap'

const hot = {
  name: 'Hot leads',
  trigger: 'LEAD_CREATED',
  conditions: [
    { field: 'score', operator: 'greater_than', value: 80 },
    {
      any: [
        { field: 'country', operator: 'equals', value: 'DE' },
        { not: { field: 'vip', operator: 'is_true' } },
      ],
    },
  ],
  actions: [
    { type: 'CREATE_TASK', config: { title: 'Call {{name}}' } },
    { type: 'WAIT', config: { duration: '3d' } },
    {
      type: 'SEND_EMAIL',
      config: { to: '{{email}}', subject: 'Hello', template: 'hello' },
      when: { field: 'since', operator: 'within_last', value: '4d' },
    },
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_CREATED', data: { lead: '{{id}}' } } },
  ],
} as CheckedRule
const deals = {
  name: 'Deals',
  trigger: 'DEAL_CREATED',
  conditions: [{ field: 'lead', operator: 'exists' }],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Deal of {{lead}}' } }],
} as CheckedRule
const rules = [hot, deals]
const lead = {
  id: 'l1',
  score: 95,
  country: 'DE',
  name: 'Ada',
  email: 'ada@example.com',
  since: '2026-01-04',
}

t.test('of a group the first rule that matches runs, and a failed test names it', async (t) => {
  const routed = (name: string, order: number, conditions: object[]) =>
    ({ ...deals, name, trigger: 'LEAD_CREATED', conditions, group: 'routing', order }) as CheckedRule
  const group = [
    routed('Pool', 20, []),
    routed('North', 10, [{ field: 'team', operator: 'equals', value: 'north' }]),
    { ...routed('Off', 1, []), isActive: false },
  ]
  const north = { type: 'LEAD_CREATED', data: { team: 'north' } }
  t.match(runTests(group, [{ name: 'North', event: north, expectOnly: { North: 1 } }]), [
    { failures: { length: 0 } },
  ])
  const south = { type: 'LEAD_CREATED', data: { team: 'south' } }
  t.match(runTests(group, [{ name: 'Else', event: south, expectOnly: { Pool: 1 } }]), [
    { failures: { length: 0 } },
  ])
  const [failed] = runTests(group, [{ name: 'Both', event: north, expect: { Pool: 1 } }])
  t.strictSame(failed?.failures, [
    '"Pool": expected 1 execution, actual no execution: it matched, but "North" came first in the group routing',
  ])
})

t.test('a test moves the clock over a WAIT and follows emitted events', async (t) => {
  const event = { type: 'LEAD_CREATED' as const, at: '2026-01-05', data: lead }
  t.same(
    run({
      event,
      expectOnly: {
        'Hot leads': [
          { type: 'CREATE_TASK' },
          { type: 'SEND_EMAIL', config: { to: 'ada@example.com' } },
          { type: 'EMIT_EVENT' },
        ],
        Deals: [{ type: 'CREATE_TASK', config: { title: 'Deal of l1' } }],
      },
    }),
    [],
  )
  const late = { ...event, data: { ...lead, since: '2025-12-20' } }
  t.same(
    run({ event: late, expect: { 'Hot leads': [{ type: 'CREATE_TASK' }, { type: 'EMIT_EVENT' }] } }),
    [],
    'the when is evaluated at the end of the WAIT',
  )
})

t.test('each item of a list is an event of its own', async (t) => {
  const split = {
    name: 'Split',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [
      {
        type: 'EMIT_EVENT',
        config: { eventType: 'DEAL_CREATED', forEach: 'lines', data: { lead: '{{item.sku}}' } },
      },
    ],
  } as CheckedRule
  const event = { type: 'LEAD_CREATED' as const, data: { lines: [{ sku: 'A' }, { sku: 'B' }] } }
  const test = {
    name: 'lines',
    event,
    expectOnly: {
      Split: [{ type: 'EMIT_EVENT', config: { events: [{ index: 0, data: { lead: 'A' } }, {}] } }],
      Deals: [
        { type: 'CREATE_TASK', config: { title: 'Deal of A' } },
        { type: 'CREATE_TASK', config: { title: 'Deal of B' } },
      ],
    },
  }
  t.match(runTests([split, deals], [test as never]), [{ failures: { length: 0 } }])
})

t.test('a failure names the clause, what was expected and what was there', async (t) => {
  const event = { type: 'LEAD_CREATED' as const, data: { ...lead, score: 80 } }
  t.same(run({ event, expect: { 'Hot leads': 1 } }), [
    '"Hot leads": expected 1 execution, actual no execution: conditions[0]: expected score greater_than 80, actual 80',
  ])
  t.same(run({ event: { ...event, data: { score: 90, vip: true } }, expect: { 'Hot leads': 1 } }), [
    '"Hot leads": expected 1 execution, actual no execution: conditions[1].any[0]: expected country equals "DE", actual missing; conditions[1].any[1].not: expected not vip is_true, actual true',
  ])
  t.same(run({ event: { ...event, data: lead }, expect: { 'Hot leads': 'no' } }), [
    '"Hot leads": expected no execution, actual 1 execution: all of its conditions held for LEAD_CREATED at 2026-01-01T00:00:00.000Z',
  ])
  t.match(
    run({
      event: { ...event, data: { ...lead, email: '', since: '2026-01-04' } },
      expect: { 'Hot leads': [{ type: 'CREATE_TASK' }, { type: 'SEND_EMAIL' }] },
    }),
    [/actions\[2\] SEND_EMAIL failed: .*; actions\[3\] EMIT_EVENT skipped: an earlier action failed/],
  )
  t.same(
    run({
      event: { ...event, data: lead },
      expect: {
        'Hot leads': [
          { type: 'CREATE_TASK', config: { title: 'Call Bob' } },
          { type: 'SEND_EMAIL' },
          { type: 'EMIT_EVENT' },
        ],
      },
    }),
    ['"Hot leads": actions[0].config.title: expected "Call Bob", actual "Call Ada"'],
  )
  t.match(run({ event: { ...event, data: lead }, expectOnly: { 'Hot leads': 1 } }), [
    /^"Deals": expected no execution, since expectOnly does not name it/,
  ])
  t.match(run({ event, expect: { Hto: 1 } }), ['"Hto": there is no such rule'])
})

t.test(
  'coverage lists the clauses that were never true or never false, and changes that no test notices are named',
  async (t) => {
    const tests: RuleTest[] = [
      { name: 'hot', event: { type: 'LEAD_CREATED', data: lead }, expect: { 'Hot leads': 1 } },
      {
        name: 'cold',
        event: { type: 'LEAD_CREATED', data: { ...lead, score: 10 } },
        expect: { 'Hot leads': 'no' },
      },
    ]
    const { verdicts, seen, uncovered } = measureCoverage(rules, tests)
    t.equal(verdicts, 10)
    t.equal(seen, verdicts - uncovered.length)
    t.match(
      uncovered.map(({ path, never }) => `${path} ${never}`),
      [
        'conditions[1].any[0] false',
        'conditions[1].any[1].not true',
        'actions[2].when false',
        'conditions[0] false',
      ],
    )
    const { changes, survivors } = mutateClauses(rules, tests)
    t.equal(changes, 5)
    t.match(survivors[0], {
      rule: 'Hot leads',
      path: 'conditions[0]',
      before: 'score is above 80',
      after: 'score is at least 80',
    })
    const atLimit: RuleTest = {
      name: 'at the limit',
      event: { type: 'LEAD_CREATED', data: { ...lead, score: 80 } },
      expect: { 'Hot leads': 'no' },
    }
    t.notMatch(
      mutateClauses(rules, [...tests, atLimit]).survivors.map(({ path }) => path),
      ['conditions[0]'],
      'a test at the limit notices it',
    )
  },
)

t.test(
  'a loop of rules ends at the limit of the service, and a rule that is switched off does nothing',
  async (t) => {
    const loop = {
      name: 'Loop',
      trigger: 'DEAL_WON',
      conditions: [],
      actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } }],
    } as unknown as CheckedRule
    const test: RuleTest = { name: 'loop', event: { type: 'DEAL_WON', data: {} }, expect: { Loop: 11 } }
    t.same(runTests([loop], [test])[0]?.failures, [])
    t.same(runTests([{ ...loop, isActive: false }], [{ ...test, expect: { Loop: 'no' } }])[0]?.failures, [])
  },
)

t.test('rules of one name are tested together', async (t) => {
  const named = (title: string, field: string) => ({
    name: 'Call',
    trigger: 'LEAD_CREATED',
    conditions: [{ field, operator: 'is_true' }],
    actions: [{ type: 'CREATE_TASK', config: { title } }],
  })
  const namesakes = [named('First', 'vip'), named('Second', 'hot')] as CheckedRule[]
  const failuresOf = (data: Record<string, unknown>, expectOnly: NonNullable<RuleTest['expectOnly']>) =>
    runTests(namesakes, [{ name: 'one', event: { type: 'LEAD_CREATED', data }, expectOnly }])[0]?.failures
  t.match(failuresOf({ hot: true }, { Call: 'no' }), [
    '"Call": expected no execution, actual 1 execution: all of its conditions held for LEAD_CREATED at 2026-01-01T00:00:00.000Z',
  ])
  t.same(failuresOf({ hot: true }, { Call: 1 }), [])
  t.same(failuresOf({ vip: true, hot: true }, { Call: 2 }), [])
  const done = ['First', 'Second'].map((title) => ({ type: 'CREATE_TASK', config: { title } }))
  t.same(failuresOf({ vip: true, hot: true }, { Call: done }), [])
  t.same(failuresOf({ hot: true }, { Call: done.slice(1) }), [])
  t.same(failuresOf({}, { Call: 'no' }), [])
  t.same(failuresOf({ vip: true }, { Call: 2 }), [
    '"Call": expected 2 executions, actual 1 execution: conditions[0]: expected hot is_true, actual missing',
  ])
  t.same(failuresOf({}, { Call: 1 }), [
    '"Call": expected 1 execution, actual no execution: conditions[0]: expected vip is_true, actual missing; another rule of the name: conditions[0]: expected hot is_true, actual missing',
  ])
})

t.test('the JUnit report escapes what XML does not take', async (t) => {
  const xml = writeJunit('rules.yaml', [
    { name: 'a < b', failures: ['"x" & \u0000'] },
    { name: 'fine', failures: [] },
  ])
  t.match(xml, '<testsuite name="rules.yaml" tests="2" failures="1">')
  t.match(xml, '<failure message="&quot;x&quot; &amp; \u{fffd}">')
  t.match(xml, 'name="a &lt; b"')
})

function run(test: Omit<RuleTest, 'name'>): readonly string[] {
  return runTests(rules, [{ name: 'one', ...test } as RuleTest])[0]?.failures ?? []
}

t.test('the events of a test end a WAIT in their order, or its time does', async (t) => {
  const reminder = {
    name: 'Reminder',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [
      { type: 'WAIT', config: { duration: '1d' } },
      {
        type: 'WAIT',
        name: 'won',
        config: {
          duration: '2d',
          for: {
            eventType: 'DEAL_WON',
            match: { lead: '{{id}}' },
            conditions: [{ field: 'sum', operator: 'greater_than', value: 0 }],
            then: 'go_on',
          },
        },
      },
      { type: 'CREATE_TASK', config: { title: '{{actions.won.ended}} {{waited.sum}}' } },
    ],
  } as CheckedRule
  const lead = { type: 'LEAD_CREATED', at: '2026-01-05T00:00:00Z', data: { id: 'l1' } }
  const won = (at: string, data: object) => ({ type: 'DEAL_WON', at, data: { lead: 'l1', ...data } })
  const run = (rule: CheckedRule, title: string, ...events: object[]) => {
    const expect = { Reminder: [{ type: 'CREATE_TASK', config: { title } }] }
    const test = { name: 'x', events: [lead, ...events], expect } as RuleTest
    t.strictSame(runTests([rule], [test])[0]?.failures, [], title)
  }
  const check = (title: string, ...events: object[]) => run(reminder, title, ...events)
  check('time ')
  check('event 5', won('2026-01-07T12:00:00Z', { sum: 5 }), won('2026-01-07T13:00:00Z', { sum: 6 }))
  check('event 5', won('2026-01-05T12:00:00Z', { sum: 5 }))
  check('event 6', won('2026-01-07T12:00:00Z', { sum: 0 }), won('2026-01-08T00:00:00Z', { sum: 6 }))
  check('time ', won('2026-01-08T00:00:01Z', { sum: 5 }))
  check('time ', won('2026-01-06T12:00:00Z', { lead: 'l2', sum: 5 }))
  check('time ', won('2026-01-04T12:00:00Z', { sum: 5 }))
  const [first, second, task] = reminder.actions
  const config = { ...second?.config, duration: undefined, until: '2026-01-05T18:00:00Z' }
  const dated = { ...reminder, actions: [first, { ...second, config }, task] } as CheckedRule
  run(dated, 'event 5', won('2026-01-05T18:00:00Z', { sum: 5 }))
  run(dated, 'time ', won('2026-01-05T18:00:01Z', { sum: 5 }))
})

t.test('perKey is simulated: in the order of the events, with the limits of the service', async (t) => {
  const remind = (perKey: object, actions: object[] = [{ type: 'CREATE_TASK', config: { title: 'Call' } }]) =>
    [
      {
        name: 'Remind',
        trigger: 'LEAD_UPDATED',
        conditions: [],
        perKey: { key: '{{id}}', ...perKey },
        actions,
      },
    ] as never
  const at = (time: string, id = 1) => ({
    type: 'LEAD_UPDATED' as const,
    at: `2026-01-${time}Z`,
    data: { id },
  })
  const check = (perKey: object, events: object[], expect: object, actions?: object[]) =>
    runTests(remind(perKey, actions), [{ name: 'perKey', events, expect } as RuleTest])[0]?.failures

  const weekly = { atMost: { runs: 1, per: '7d' } }
  const week = [at('01T09:00:00'), at('08T08:59:59.999'), at('08T09:00:00'), at('08T09:00:00', 2)]
  t.strictSame(check(weekly, week, { Remind: 3 }), [])
  t.match(check(weekly, week.slice(0, 2), { Remind: 2 }), [
    /actual 1 execution: it matched, but perKey suppressed it: the limit of its key was reached until 2026-01-08T09:00:00.000Z, by execution of event 1/,
  ])
  const third = { atLeast: { events: 3, within: '24h' } }
  const six = [1, 2, 3, 4, 5, 6].map((hour) => at(`01T0${hour}:00:00`))
  t.strictSame(check(third, six, { Remind: 2 }), [])
  t.match(check(third, six.slice(0, 2), { Remind: 1 }), [/2 of 3 events so far/])
  t.strictSame(check(third, [at('01T09:00:00'), at('01T10:00:00'), at('02T09:00:00')], { Remind: 'no' }), [])

  const slow = [
    { type: 'WAIT', config: { duration: '1h' } },
    { type: 'CREATE_TASK', config: { title: 'Call' } },
    { type: 'WAIT', config: { duration: '1h' } },
    { type: 'CREATE_TASK', config: { title: 'Call again' } },
  ]
  const burst = [at('01T09:00:00'), at('01T09:30:00'), at('01T10:00:00')]
  t.strictSame(check({ whileRunning: 'skip' }, [...burst, at('01T11:00:01')], { Remind: 2 }, slow), [])
  t.match(check({ whileRunning: 'skip' }, burst, { Remind: 2 }, slow), [
    /execution of event 1 of its key had not ended/,
  ])
  const last = [{ type: 'CREATE_TASK' }, { type: 'CREATE_TASK' }]
  t.strictSame(
    check({ whileRunning: 'replace' }, burst.slice(0, 2), { Remind: last }, slow),
    [],
    'a debounce',
  )
  t.strictSame(
    check({ whileRunning: 'replace' }, [...burst, at('01T11:30:00')], { Remind: 2 }, slow),
    [],
    'the third has done something',
  )
  t.strictSame(check({ whileRunning: 'queue' }, burst, { Remind: 3 }, slow), [])
  const emit = [
    { type: 'WAIT', config: { duration: '1h' } },
    { type: 'EMIT_EVENT', config: { eventType: 'DEAL_CREATED' } },
  ]
  const prepared = prepareRules(remind({ whileRunning: 'queue' }, emit))
  const { events } = simulateEvents(
    prepared,
    burst.map((event) => ({ ...event, at: Date.parse(event.at) })),
  )
  t.strictSame(
    events
      .filter(({ type }) => type === 'DEAL_CREATED')
      .map(({ at: moment }) => new Date(moment).toISOString()),
    ['10', '11', '12'].map((hour) => `2026-01-01T${hour}:00:00.000Z`),
    'one after another',
  )
})

t.test('events are collected into batches, each an execution at its end', async (t) => {
  const title = '{{collected.count}} {{n}} {{collected.events[0].n}}'
  const digest = (collect: object, more: object = {}) =>
    [
      {
        name: 'Digest',
        trigger: 'LEAD_UPDATED',
        conditions: [],
        perKey: { key: '{{id}}', collect, ...more },
        actions: [
          { type: 'CREATE_TASK', config: { title } },
          { type: 'WAIT', config: { duration: '1h' } },
          { type: 'EMIT_EVENT', config: { eventType: 'DEAL_CREATED', data: {} } },
        ],
      },
    ] as never
  const at = (time: string, n: number, id = 1) => ({
    type: 'LEAD_UPDATED' as const,
    at: Date.parse(`2026-01-01T${time}Z`),
    data: { id, n },
  })
  const run = (rules: never, events: ReturnType<typeof at>[]) => {
    const { executions, events: all } = simulateEvents(prepareRules(rules), events)
    const emitted = all.filter(({ type }) => type === 'DEAL_CREATED')
    return {
      titles: executions.map(({ actions }) => (actions[0]?.config as { title: string } | undefined)?.title),
      ends: emitted.map((event) => new Date(event.at).toISOString().slice(11, 16)),
    }
  }
  const events = [at('09:00:00', 1), at('09:05:00', 2, 2), at('09:09:59', 3), at('09:10:00', 4)]
  t.strictSame(run(digest({ for: '10m' }), events), {
    titles: ['2 3 1', '1 2 2', '1 4 4'],
    ends: ['10:10', '10:15', '10:20'],
  })
  t.strictSame(run(digest({ for: '1h', max: 2 }, { whileRunning: 'queue' }), events), {
    titles: ['2 3 1', '1 2 2', '1 4 4'],
    // At 09:09 the first batch is full; the others end after an hour.
    ends: ['10:09', '11:05', '11:10'],
  })
  t.strictSame(run(digest({ for: '1h', quiet: '5m' }), events).ends, ['10:05', '10:10', '10:15'])
  const failures = runTests(digest({ for: '10m' }), [
    {
      name: 'x',
      events: [{ ...at('09:00:00', 1), at: '2026-01-01T09:00:00Z' }],
      expect: { Digest: 1 },
    } as never,
  ])
  t.strictSame(failures[0]?.failures, [])
})

t.test('a key that cannot be rendered is an execution that does nothing', async (t) => {
  const rule = {
    name: 'Remind',
    trigger: 'LEAD_UPDATED',
    conditions: [],
    perKey: { key: '{{id}}{{id}}', atMost: { runs: 1, per: '1d' } },
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
  }
  const data = { id: 'x'.repeat(600_000) }
  const event = { type: 'LEAD_UPDATED', data }
  const expect = { Remind: [{ type: 'CREATE_TASK' }] }
  const [result] = runTests([rule] as never, [{ name: 'long', events: [event, event], expect } as never])
  t.match(result?.failures, [/actual nothing \(perKey\.key renders to more than/])
})

t.test('a decision in a test ends the WAIT for it, or the time does', async (t) => {
  const asks = {
    name: 'Ask',
    trigger: 'DEAL_CREATED',
    conditions: [],
    actions: [
      { type: 'WAIT', config: { decision: { options: ['approve', 'reject'], within: '1d' } } },
      { type: 'CREATE_TASK', config: { title: '{{decision.choice}} {{decision.reason}}' } },
    ],
  } as CheckedRule
  const decided = (at: string, choice: string) => ({ type: 'DECISION', at, data: { choice, reason: 'Fair' } })
  const run = (title: string, ...events: object[]) =>
    runTests(
      [asks],
      [
        {
          name: 'Decide',
          events: [{ type: 'DEAL_CREATED', at: '2026-01-01T00:00:00Z' }, ...events],
          expect: { Ask: [{ type: 'CREATE_TASK', config: { title } }] },
        } as RuleTest,
      ],
    )
  const passed = [{ failures: { length: 0 } }]
  t.match(run('approve Fair', decided('2026-01-01T10:00:00Z', 'approve')), passed)
  t.match(run('reject Fair', decided('2026-01-02T00:00:00Z', 'reject')), passed, 'at the end of the time')
  t.match(run('expired ', decided('2026-01-02T00:00:01Z', 'approve')), passed)
  t.match(run('expired ', decided('2026-01-01T10:00:00Z', 'perhaps')), passed, 'it is no option')
  t.match(run('reject Fair'), [{ failures: [String] }])
})
