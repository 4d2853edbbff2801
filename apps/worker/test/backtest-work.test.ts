import { executionIdOf } from '@automation/database'
import { claimBacktest, createBacktest, findBacktest, readActiveVersion } from '@automation/rules'
import t from 'tap'
import { computeSlice } from '../src/backtests/compute-slice.js'
import { createHarness, type Harness } from './fixtures/harness.js'

const workLimits = { rule: 10_000, event: 25_000 }
const limits = { workLimits, retentionDays: 0 }
/** It costs 9,600 units for 80,000 characters: two rules leave too little for a third one. */
const contains = { field: 'text', operator: 'contains', value: 'x' }
const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

async function createRule({ own, createRule }: Harness, conditions: object[]): Promise<string> {
  const ruleId = await createRule([task])
  await own.rule.update({ where: { id: ruleId }, data: { conditions } })
  await own.ruleVersion.updateMany({ where: { ruleId }, data: { conditions } })
  return ruleId
}

t.test('a backtest counts the events that a worker did not evaluate for lack of work', async (t) => {
  const harness = await createHarness(t, {}, { workLimits })
  const { inbox } = harness
  const from = Date.now() - 60_000
  for (let index = 0; index < 2; index++) await createRule(harness, [contains])
  await createRule(harness, [{ field: 'score', operator: 'greater_than', value: 5 }])
  const ruleId = await createRule(harness, [{ not: contains }])
  await createRule(harness, [contains])
  const worker = harness.startWorker()
  await worker.ready()
  const statuses: Record<string, number> = {}
  for (const length of [80_000, 10, 80_000, 80_000, 20, 40_000]) {
    const event = { ...harness.newEvent(), data: { text: 'y'.repeat(length) } }
    await inbox.accept(event)
    await harness.untilDone(event.id)
    const id = executionIdOf(event, ruleId)
    const { status, error } = await harness.untilStatus(id, 'succeeded', 'failed')
    if (status === 'failed') t.match(error, /shared evaluation limit/)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  t.strictSame(statuses, { failed: 3, succeeded: 3 })
  const { report } = await runBacktest(harness, ruleId, from)
  t.match(report, { considered: 6, active: { matched: 3, notJudged: 3 } })
  t.match(report?.notes, [/evaluation limit.* with the 2 rules before it/])
})

t.test('a backtest leaves out what was replayed for other rules', async (t) => {
  const harness = await createHarness(t)
  const { inbox } = harness
  const from = Date.now() - 60_000
  const other = await createRule(harness, [])
  const ruleId = await createRule(harness, [])
  const worker = harness.startWorker()
  await worker.ready()
  for (const chosenRuleIds of [undefined, [other], [other, ruleId]]) {
    const event = { ...harness.newEvent(), ...(chosenRuleIds && { chosenRuleIds }) }
    await inbox.accept(event)
    await harness.untilDone(event.id)
  }
  t.equal(await harness.own.execution.count({ where: { handlerId: ruleId } }), 2)
  const { report } = await runBacktest(harness, ruleId, from)
  t.match(report, { scanned: 3, considered: 2, active: { matched: 2 } })
})

/** Of the active version of a rule, until now. */
async function runBacktest({ database, own, workspaceId }: Harness, ruleId: string, from: number) {
  const active = await readActiveVersion(own, ruleId)
  if (active === undefined) throw new Error('The rule is gone')
  const administrator = { database, workspaceId, actor: 'user:tests' }
  const subject = { ruleId, active, from, to: Date.now() }
  const { id } = await createBacktest(administrator, { subject, historyFrom: null, pace: 'full' })
  for (let backtest = await findBacktest(own, id); backtest?.status !== 'done'; ) {
    const claimed = await claimBacktest(database)
    if (claimed?.id !== id) throw new Error(`${claimed?.id} was claimed`)
    await computeSlice(database, claimed, limits)
    await own.backtest.updateMany({ where: { id }, data: { leaseUntil: null } })
    backtest = await findBacktest(own, id)
  }
  return (await findBacktest(own, id)) ?? { report: null }
}
