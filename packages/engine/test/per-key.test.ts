import fc from 'fast-check'
import t from 'tap'
import { compilePerKey } from '../src/per-key/compile-key.js'
import { decide, type KeyState } from '../src/per-key/decide.js'
import type { KeyEvent } from '../src/per-key/key-event.js'
import { findPerKeyFaults } from '../src/per-key/per-key-faults.js'
import { findRuleWarnings } from '../src/warnings/rule-warnings.js'
import { Evaluation } from '../src/work/evaluation.js'

const minute = 60_000
const iso = (at: number) => new Date(at).toISOString()

function eventAt(at: number, id = String(at)): KeyEvent {
  return { at, eventId: `event ${id}`, executionId: `run ${id}` }
}

function stateOf(state: Partial<KeyState> = {}): KeyState {
  return { granted: [], counted: [], queue: [], ...state }
}

t.test(
  'an event is granted unless an interval of the length would have too many, and exactly one length later again',
  async (t) => {
    const perKey = compilePerKey({ atMost: { runs: 2, per: '10m' } })
    const granted = [eventAt(0), eventAt(4 * minute)]
    const at = (moment: number) => decide(perKey, 'x', stateOf({ granted }), eventAt(moment, 'new'))
    t.strictSame(at(10 * minute - 1), {
      kind: 'suppressed',
      suppression: { reason: 'at_most', key: 'x', until: iso(10 * minute), executionId: 'run 0' },
      replaced: [],
      consumed: [],
      isCounted: false,
    })
    t.equal(at(10 * minute).kind, 'run')
  },
)

t.test('an event that is recorded late is refused if later ones would be too many with it', async (t) => {
  const perKey = compilePerKey({ atMost: { runs: 1, per: '10m' } })
  const granted = [eventAt(10 * minute)]
  t.equal(decide(perKey, 'x', stateOf({ granted }), eventAt(0)).kind, 'run')
  const refused = decide(perKey, 'x', stateOf({ granted }), eventAt(1))
  t.match(refused.suppression, { reason: 'at_most', until: iso(20 * minute), executionId: 'run 600000' })
  const ofTwo = compilePerKey({ atMost: { runs: 2, per: '10m' } })
  const between = (last: number) =>
    decide(ofTwo, 'x', stateOf({ granted: [eventAt(0), eventAt(last)] }), eventAt(5 * minute)).kind
  t.equal(between(10 * minute), 'run', 'no interval has both')
  t.equal(between(10 * minute - 1), 'suppressed')
})

t.test(
  'no interval has more runs than its limit, in any order of recording, and no event is refused without need',
  async (t) => {
    const per = 10
    const arbitrary = fc.record(
      {
        runs: fc.integer({ min: 1, max: 4 }),
        times: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 40, size: 'max' }),
      },
      { noNullPrototype: true },
    )
    // The limit as it is written in the documentation: any half-open interval.
    const isWithin = (granted: number[], runs: number) =>
      granted.every((start) => granted.filter((time) => time >= start && time < start + per).length <= runs)
    fc.assert(
      fc.property(arbitrary, ({ runs, times }) => {
        const perKey = {
          ...compilePerKey({ whileRunning: 'skip' }),
          whileRunning: undefined,
          atMost: { runs, per },
        }
        const granted: KeyEvent[] = []
        for (const [index, at] of times.entries()) {
          const event = eventAt(at, `${at} ${index}`)
          const { kind, suppression } = decide(perKey, '', stateOf({ granted }), event)
          const seen = granted.map((run) => run.at)
          if (kind === 'run') {
            granted.push(event)
            if (!isWithin([...seen, at], runs)) return false
            continue
          }
          if (isWithin([...seen, at], runs)) return false
          const until = Date.parse((suppression as { until: string }).until)
          if (until <= at || !isWithin([...seen, until], runs)) return false
        }
        return true
      }),
    )
    t.pass()
  },
)

t.test(
  'the event that completes the count starts an execution, and the events of the count are used up',
  async (t) => {
    const perKey = compilePerKey({ atLeast: { events: 3, within: '10m' } })
    let counted: readonly KeyEvent[] = []
    const kinds = [0, 1, 2, 3, 4, 5].map((moment) => {
      const event = eventAt(moment * minute)
      const { kind, suppression, consumed, isCounted } = decide(perKey, '', stateOf({ counted }), event)
      counted = [...counted, ...(isCounted ? [event] : [])].filter((one) => !consumed.includes(one))
      return suppression?.reason === 'at_least' ? `${suppression.count} of ${suppression.events}` : kind
    })
    t.strictSame(kinds, ['1 of 3', '2 of 3', 'run', '1 of 3', '2 of 3', 'run'])
  },
)

t.test('an event that leaves the window is not counted', async (t) => {
  const perKey = compilePerKey({ atLeast: { events: 2, within: '10m' } })
  const counted = [eventAt(0)]
  t.equal(decide(perKey, '', stateOf({ counted }), eventAt(10 * minute)).kind, 'suppressed')
  t.equal(decide(perKey, '', stateOf({ counted }), eventAt(10 * minute - 1)).kind, 'run')
})

t.test('no event is lost to the count, in any order of recording', async (t) => {
  const perKey = compilePerKey({ atLeast: { events: 3, within: '1h' } })
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 30 }), (times) => {
      let counted: readonly KeyEvent[] = []
      let runs = 0
      for (const [index, at] of times.entries()) {
        const event = eventAt(at, `${at} ${index}`)
        const decision = decide(perKey, '', stateOf({ counted }), event)
        if (decision.kind === 'run') runs++
        counted = [...counted, ...(decision.isCounted ? [event] : [])].filter(
          (one) => !decision.consumed.includes(one),
        )
      }
      return runs * 3 + counted.length === times.length
    }),
  )
  t.pass()
})

t.test(
  'in whatever order events are recorded, one of them completes the count of each interval',
  async (t) => {
    const within = 10
    const perKey = {
      ...compilePerKey({ whileRunning: 'skip' }),
      whileRunning: undefined,
      atLeast: { events: 3, within },
    }
    const record = (times: readonly number[]) => {
      let counted: readonly KeyEvent[] = []
      const kinds = times.map((at, index) => {
        const event = eventAt(at, `${at} ${index}`)
        const { kind, consumed, isCounted, suppression } = decide(perKey, '', stateOf({ counted }), event)
        counted = [...counted, ...(isCounted ? [event] : [])].filter((one) => !consumed.includes(one))
        return suppression?.reason === 'at_least' ? suppression.count : kind
      })
      return { kinds, left: counted.map(({ at }) => at) }
    }
    t.strictSame(record([9, 0, 5]), { kinds: [1, 2, 'run'], left: [] })
    t.strictSame(record([10, 0, 5]), { kinds: [1, 1, 2], left: [10, 0, 5] }, 'an interval is half open')
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }), (times) => {
        const { left } = record(times)
        return left.every((start) => left.filter((at) => at >= start && at < start + within).length < 3)
      }),
    )
  },
)

t.test('a count stays used up if a limit refuses the execution', async (t) => {
  const perKey = compilePerKey({ atLeast: { events: 2, within: '1h' }, atMost: { runs: 1, per: '1h' } })
  const state = stateOf({ counted: [eventAt(1)], granted: [eventAt(0)] })
  const decision = decide(perKey, '', state, eventAt(2))
  t.equal(decision.suppression?.reason, 'at_most')
  t.strictSame(decision.consumed, [eventAt(1), eventAt(2)])
})

t.test(
  'while an execution of the key has not ended, others are skipped, queued or take its place',
  async (t) => {
    const holder = { ...eventAt(10), isWaiting: true }
    const ask = (whileRunning: 'skip' | 'replace' | 'queue', state: Partial<KeyState>, at: number) =>
      decide(compilePerKey({ whileRunning }), '', stateOf(state), eventAt(at, 'new'))
    t.match(ask('skip', { holder }, 20), {
      kind: 'suppressed',
      suppression: { reason: 'while_running', executionId: 'run 10' },
    })
    t.match(ask('skip', {}, 20), { kind: 'run' })
    t.match(ask('queue', { holder }, 20), { kind: 'wait' })
    const queue = Array.from({ length: 1_000 }, (_, index) => eventAt(100 + index))
    t.match(ask('queue', { holder, queue }, 20), { suppression: { reason: 'queue_full' } })
    t.match(ask('replace', { holder }, 20), { kind: 'run', replaced: [holder] })
    t.match(ask('replace', { holder: { ...holder, isWaiting: false } }, 20), { kind: 'wait' })
    t.match(ask('replace', { holder }, 5), {
      suppression: { reason: 'while_running', executionId: 'run 10' },
    })
  },
)

t.test('a number and its text are one key, and so are objects of the same fields', async (t) => {
  const { render } = compilePerKey({ key: '{{id}}', whileRunning: 'skip' })
  t.equal(render({ id: 7 }).key, render({ id: '7' }).key)
  t.equal(
    render({ id: { a: 1, b: [{ c: 2, d: 3 }] } }).key,
    render({ id: { b: [{ d: 3, c: 2 }], a: 1 } }).key,
  )
  t.not(render({ id: [1, 2] }).key, render({ id: [2, 1] }).key)
})

t.test('missing, null and "" are one key, with a warning', async (t) => {
  const { render } = compilePerKey({ key: '{{id}}', whileRunning: 'skip' })
  for (const data of [{}, { id: null }, { id: '' }, 7]) {
    const { key, warnings } = render(data)
    t.equal(key, '')
    t.ok(warnings.includes('perKey.key is empty: all events without it share one key'), JSON.stringify(data))
  }
  t.strictSame(compilePerKey({ whileRunning: 'skip' }).render({}).warnings, [])
})

t.test('a key that cannot be rendered as a whole is a fault, not the key of other events', async (t) => {
  const { render } = compilePerKey({ key: '{{id}}{{id}}', whileRunning: 'skip' })
  const half = 'x'.repeat(600_000)
  t.match(render({ id: half }).fault, /^perKey\.key renders to more than 1048576 characters$/)
  t.equal(render({ id: half.slice(0, 500_000) }).fault, undefined)
  const evaluation = new Evaluation(0, { rule: 10, event: 100 })
  evaluation.charge(11)
  t.match(render({ id: 7 }, evaluation), { fault: /^The rule exceeds the evaluation limit of 10/ })
  evaluation.beginRule()
  t.match(render({ id: 7 }, evaluation), { key: '77', fault: undefined })
})

t.test('a key of a megabyte is a key, and its beginning is shown', async (t) => {
  const perKey = compilePerKey({ key: '{{id}}', atMost: { runs: 1, per: '1h' } })
  const text = 'x'.repeat(1_000_000)
  const { key } = perKey.render({ id: text })
  t.equal(key, text)
  t.not(key, perKey.render({ id: `${text}y` }).key)
  const refused = decide(perKey, key, stateOf({ granted: [eventAt(0)] }), eventAt(1))
  t.equal(refused.suppression?.key, `${'x'.repeat(256)}…`)
})

t.test('the faults of perKey are found', async (t) => {
  const capturing = [{ name: 'call', config: { capture: { ticket: 'body.id' } } }]
  const cases: [unknown, string, RegExp][] = [
    [{}, 'perKey', /^Must have at least one of atLeast, atMost, whileRunning, collect$/],
    [{ key: '{{id}}' }, 'perKey', /^Must have at least one of/],
    [{ key: 'lead', whileRunning: 'skip' }, 'perKey.key', /^Must have a placeholder such as/],
    [{ key: '{{a..b}}', whileRunning: 'skip' }, 'perKey.key', /./],
    [{ key: '{{id | shout}}', whileRunning: 'skip' }, 'perKey.key', /unknown filter/],
    [{ key: '{{credentials.CHAT}}', whileRunning: 'skip' }, 'perKey.key', /credentials/],
    [{ key: '{{captured.ticket}}', whileRunning: 'skip' }, 'perKey.key', /^Must not read captured\.ticket/],
    [{ key: '{{actions.call.status}}', whileRunning: 'skip' }, 'perKey.key', /^Must not read actions/],
    [{ atMost: { runs: 1, per: '400d' } }, 'perKey.atMost.per', /^Must be a duration .* at most 366 days$/],
    [{ atMost: { runs: 1, per: '0s' } }, 'perKey.atMost.per', /^Must be a duration/],
    [{ atLeast: { events: 2, within: 'soon' } }, 'perKey.atLeast.within', /^Must be a duration/],
  ]
  for (const [perKey, field, message] of cases) {
    const faults = findPerKeyFaults({ perKey, actions: capturing })
    t.match(faults, [{ field, message }], JSON.stringify(perKey))
  }
  for (const perKey of [undefined, null, 7, 'x', [], { key: 7, atMost: 'x', whileRunning: 'skip' }])
    t.strictSame(findPerKeyFaults({ perKey }), [], JSON.stringify(perKey))
  // Where the rule records nothing, these are fields of the event.
  t.strictSame(findPerKeyFaults({ perKey: { key: '{{captured.x}}', whileRunning: 'skip' } }), [])
})

t.test('a wait that keeps the key, and a key that events do not have, are warned of', async (t) => {
  const rule = (perKey: object, actions: object[]) =>
    findRuleWarnings({ trigger: 'LEAD_CREATED', conditions: [], perKey, actions } as never).filter(
      ({ field }) => field.startsWith('perKey'),
    )
  const wait = (duration: string) => ({ type: 'WAIT', config: { duration } })
  t.match(rule({ whileRunning: 'queue' }, [wait('2d')]), [
    { field: 'perKey.whileRunning', message: /^Other events of the key wait until actions\[0\] is over/ },
  ])
  t.match(rule({ whileRunning: 'skip' }, [wait('1h')]), [{ message: /start nothing/ }])
  t.strictSame(rule({ whileRunning: 'replace' }, [wait('2d')]), [])
  t.strictSame(rule({ whileRunning: 'queue' }, [wait('5m')]), [])
  t.match(rule({ key: '{{data.id}}', whileRunning: 'replace' }, []), [{ field: 'perKey.key' }])
})
