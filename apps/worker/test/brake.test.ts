import { setTimeout } from 'node:timers/promises'
import { createSubscription, deleteSubscription, updateSubscription } from '@automation/access'
import { newId } from '@automation/database'
import { countCancellations } from '@automation/ledger'
import { changeRules, deleteRules, pauseRules, saveRules } from '@automation/rules'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const waiting = 7_000

/** Stores executions of a rule, or deliveries to a subscription, that wait for a day. Those of a rule have one event, unless they are by hand. */
async function storeWaiting(
  { own, workspaceId }: Harness,
  id: string,
  count: number,
  isByHand = false,
): Promise<void> {
  const subscription = await own.subscription.findUnique({ where: { id } })
  const eventId = isByHand || subscription ? null : newId()
  await own.$executeRaw`
    INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, is_delivery, rule_version, status, results,
                            started_at, due_at)
    SELECT id, ${workspaceId}::uuid, coalesce(${eventId}::uuid, id), 'LEAD_CREATED', ${id}::uuid, ${subscription !== null}::boolean, 1,
           'waiting', '[]', now(), now() + interval '1 day'
    FROM (SELECT (${newId().slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid AS id FROM generate_series(1, ${count}) AS n) AS ids`
}

const administratorOf = ({ database, workspaceId }: Harness) => ({ database, workspaceId, actor: 'test' })

function changeRule(harness: Harness, ruleId: string, fields: { isActive: boolean } | { mode: string }) {
  const administrator = administratorOf(harness)
  return changeRules(administrator, async (transaction) => {
    const found = await harness.own.rule.findUniqueOrThrow({ where: { id: ruleId } })
    const [saved] = await saveRules(transaction, administrator, [{ found, fields }])
    return { result: saved?.cancelled, entry: { action: 'rule.updated' as const, subject: ruleId } }
  })
}

function deleteRule(harness: Harness, ruleId: string) {
  return changeRules(administratorOf(harness), async (transaction) => {
    const result = await deleteRules(transaction, harness.workspaceId, [ruleId])
    return { result, entry: { action: 'rule.deleted' as const, subject: ruleId } }
  })
}

async function pauseRule({ database, own, workspaceId }: Harness, ruleId: string): Promise<void> {
  await own.ruleCounters.update({ where: { ruleId }, data: { attentionReason: 'worker_crashes' } })
  await pauseRules(database, workspaceId, [ruleId])
}

interface Way {
  create(harness: Harness): Promise<string>
  stop(harness: Harness, id: string): Promise<unknown>
  /** Not for what is deleted. */
  start?(harness: Harness, id: string): Promise<unknown>
  /** Becomes the error of what is cancelled. */
  reason: string
}

const createRule = (harness: Harness) => harness.createRule([])
const startRule = (harness: Harness, id: string) => changeRule(harness, id, { isActive: true })

async function subscribe(harness: Harness): Promise<string> {
  const fields = { url: 'https://example.com/hooks', eventTypes: ['execution.failed' as const] }
  return (await createSubscription(administratorOf(harness), harness.sealer, fields)).id
}

const ways: Record<string, Way> = {
  'switching a rule off': {
    create: createRule,
    stop: (harness, id) => changeRule(harness, id, { isActive: false }),
    start: startRule,
    reason: 'The rule was switched off',
  },
  'pausing a rule': { create: createRule, stop: pauseRule, start: startRule, reason: 'The rule was paused' },
  'deleting a rule': { create: createRule, stop: deleteRule, reason: 'The rule was deleted' },
  'switching a subscription off': {
    create: subscribe,
    stop: (harness, id) => updateSubscription(administratorOf(harness), id, { isActive: false }),
    start: (harness, id) => updateSubscription(administratorOf(harness), id, { isActive: true }),
    reason: 'The subscription was switched off',
  },
  'deleting a subscription': {
    create: subscribe,
    stop: (harness, id) => deleteSubscription(administratorOf(harness), id),
    reason: 'The subscription was deleted',
  },
}

for (const [way, { create, stop, start, reason }] of Object.entries(ways))
  t.test(`${way} cancels 1,000 executions itself, and a worker cancels the others behind it`, async (t) => {
    const harness = await createHarness(t)
    const [id, other] = [await create(harness), await create(harness)]
    await storeWaiting(harness, id, waiting)
    await setTimeout(5)
    await storeWaiting(harness, other, 10)
    await setTimeout(5)
    await stop(harness, id)
    const cancelled = { handlerId: id, status: 'cancelled' as const, error: reason, dueAt: null, lease: null }
    t.equal(await harness.own.execution.count({ where: cancelled }), 1_000)
    t.equal(await harness.own.execution.count({ where: { status: 'waiting' } }), waiting - 1_000 + 10)
    t.ok((await countCancellations(harness.database)) >= 1, 'the metrics show that some are left')
    if (start) await t.rejects(start(harness, id), { message: /still being cancelled/ })
    harness.startSweeper()
    while ((await harness.own.cancellation.count()) > 0) await setTimeout(20)
    t.equal(await harness.own.execution.count({ where: cancelled }), waiting)
    t.equal(await harness.own.execution.count({ where: { handlerId: other, status: 'waiting' } }), 10)
    if (start) await t.resolves(start(harness, id))
  })

t.test('what is executed by hand after the change is not cancelled by it', async (t) => {
  const harness = await createHarness(t)
  const ruleId = await harness.createRule([])
  await storeWaiting(harness, ruleId, 2_000)
  await setTimeout(5)
  await changeRule(harness, ruleId, { isActive: false })
  await setTimeout(5)
  await storeWaiting(harness, ruleId, 1, true)
  harness.startSweeper()
  while ((await harness.own.cancellation.count()) > 0) await setTimeout(20)
  t.equal(await harness.own.execution.count({ where: { handlerId: ruleId, status: 'waiting' } }), 1)
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
    const count = (ruleId: string) =>
      harness.own.execution.count({ where: { handlerId: ruleId, status: 'waiting' } })
    t.equal(await count(shadow), 0)
    t.equal(await count(live), 1_000, 'a live rule may be executed by hand')
  },
)
