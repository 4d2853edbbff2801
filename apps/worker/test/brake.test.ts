import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { countCancellations } from '@automation/ledger'
import { changeRules, saveRules } from '@automation/rules'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const waiting = 7_000

/** Stores executions that wait for a day, those of one event each. */
async function storeWaiting(
  { own, workspaceId }: Harness,
  ruleId: string,
  count: number,
  isByHand = false,
): Promise<void> {
  const eventId = isByHand ? null : newId()
  await own.$executeRaw`
    INSERT INTO executions (id, workspace_id, event_id, event_type, rule_id, rule_version, status, results, started_at, due_at)
    SELECT id, ${workspaceId}::uuid, coalesce(${eventId}::uuid, id), 'LEAD_CREATED', ${ruleId}::uuid, 1, 'waiting', '[]', now(),
           now() + interval '1 day'
    FROM (SELECT (${newId().slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid AS id FROM generate_series(1, ${count}) AS n) AS ids`
}

function switchRule(harness: Harness, ruleId: string, isActive: boolean) {
  return changeRule(harness, ruleId, { isActive })
}

function changeRule(
  { database, own, workspaceId }: Harness,
  ruleId: string,
  fields: { isActive: boolean } | { mode: string },
) {
  const administrator = { database, workspaceId, actor: 'test' }
  return changeRules(administrator, async (transaction) => {
    const found = await own.rule.findUniqueOrThrow({ where: { id: ruleId } })
    const [saved] = await saveRules(transaction, administrator, [{ found, fields }])
    return { result: saved?.cancelled, entry: { action: 'rule.updated' as const, subject: ruleId } }
  })
}

t.test(
  'a rule is switched off at once, however many executions wait, and those are cancelled behind it',
  async (t) => {
    const harness = await createHarness(t)
    const ruleId = await harness.createRule([])
    const other = await harness.createRule([])
    await storeWaiting(harness, ruleId, waiting)
    await setTimeout(5)
    await storeWaiting(harness, other, 10)
    await setTimeout(5)
    t.equal(await switchRule(harness, ruleId, false), 1_000, 'the change cancels the first thousand')
    await t.rejects(switchRule(harness, ruleId, true), { message: /still being cancelled/ })
    const left = await countCancellations(harness.database)
    t.ok(left >= 1, 'which the metrics show')
    harness.startSweeper()
    const count = (id: string) => harness.own.execution.count({ where: { ruleId: id, status: 'waiting' } })
    while ((await count(ruleId)) > 0) await setTimeout(50)
    while ((await harness.own.cancellation.count()) > 0) await setTimeout(20)
    const cancelled = {
      ruleId,
      status: 'cancelled' as const,
      error: 'The rule was switched off',
      dueAt: null,
    }
    t.equal(await harness.own.execution.count({ where: cancelled }), waiting)
    t.equal(await count(other), 10)
    await switchRule(harness, ruleId, true)
    t.equal((await harness.own.rule.findUniqueOrThrow({ where: { id: ruleId } })).isActive, true)
  },
)

t.test('what is executed by hand after the change is not cancelled by it', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([])
  await storeWaiting(harness, ruleId, 2_000)
  await setTimeout(5)
  await switchRule(harness, ruleId, false)
  await setTimeout(5)
  await storeWaiting(harness, ruleId, 1)
  harness.startSweeper()
  while ((await harness.own.cancellation.count()) > 0) await setTimeout(20)
  t.equal(await harness.own.execution.count({ where: { ruleId, status: 'waiting' } }), 1)
})

t.test(
  'of a rule that becomes a shadow, what waits by hand is cancelled as well, however much it is',
  async (t) => {
    const harness = await createHarness(t)
    const [shadow, live] = [await harness.createRule([]), await harness.createRule([])]
    for (const ruleId of [shadow, live]) await storeWaiting(harness, ruleId, 2_000, true)
    await setTimeout(5)
    t.equal(await changeRule(harness, shadow, { mode: 'shadow' }), 1_000)
    t.equal(await changeRule(harness, live, { isActive: false }), 1_000)
    harness.startSweeper()
    while ((await harness.own.cancellation.count()) > 0) await setTimeout(20)
    const count = (ruleId: string) => harness.own.execution.count({ where: { ruleId, status: 'waiting' } })
    t.equal(await count(shadow), 0)
    t.equal(await count(live), 1_000, 'a live rule may be executed by hand')
  },
)
