import t from 'tap'
import { checkTicks, type Tick } from './check-ticks.js'

const start = Date.UTC(2026, 0, 1)
const rule = { id: 'rule', periodMs: 3_000, createdAt: start, isSwitched: false, pauses: [] }
const tick = (seconds: number, missed = 0, fields: Partial<Tick> = {}): Tick => {
  const at = start + seconds * 1_000
  const data = { scheduledAt: new Date(at).toISOString(), missed }
  return {
    id: `tick ${seconds}`,
    ruleId: 'rule',
    data,
    acceptedAt: at + 500,
    executions: 1,
    tasks: 1,
    ...fields,
  }
}

t.test('ticks that keep the promise are no violation', async (t) => {
  t.strictSame(checkTicks([rule], [tick(3), tick(6), tick(15, 2)]), [])
})

t.test('a storm would notice each broken promise', async (t) => {
  const broken: [Tick[], RegExp][] = [
    [[], /no tick/],
    [[tick(3), tick(9)], /0 missed, and 1 were/],
    [[tick(6)], /0 missed, and 1 were/],
    [[tick(3), tick(6, 1)], /1 missed, and 0 were/],
    [[tick(3), tick(3, -1)], /two events/],
    [[tick(4)], /not due/],
    [[tick(3, 0, { acceptedAt: start })], /too early/],
    [[tick(0, -1)], /before the rule/],
    [[tick(3, 0, { executions: 2, tasks: 2 })], /2 executions/],
    [[tick(3, 0, { executions: 0, tasks: 0 })], /0 executions/],
    [[tick(3, 0, { tasks: 2 })], /2 tasks/],
  ]
  for (const [ticks, violation] of broken) t.match(checkTicks([rule], ticks).join(), violation)
  const switched = {
    ...rule,
    isSwitched: true,
    pauses: [[start + 2_000, start + 4_000]] as [number, number][],
  }
  t.match(checkTicks([switched], [tick(3)]).join(), /was off/)
})
