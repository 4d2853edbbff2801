import { setTimeout } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import { narrowToExecution } from '@automation/history'
import { matchLists } from '@automation/launcher/match-lists'
import { reopenExecutions } from '@automation/ledger'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const expensive = { field: 'text', operator: 'not_matches', value: '(?i)a[ab]{240}[cd]' }
/** Letters that lead to new states of the pattern at each step. */
const data = {
  text: Array.from({ length: 40_000 }, (_, n) => 'ab'[((n * n * 31 + (n >> 3) * 17) % 7) % 2]).join(''),
}

/** A rule with one condition, on which no other event has run. */
async function createRule(harness: Harness, condition: object): Promise<string> {
  const ruleId = await harness.createRule([task])
  await harness.own.rule.update({ where: { id: ruleId }, data: { conditions: [condition] } })
  await harness.own.ruleVersion.updateMany({ where: { ruleId }, data: { conditions: [condition] } })
  return ruleId
}

async function run(harness: Harness): Promise<string> {
  const event = { ...harness.newEvent(), data }
  await harness.inbox.accept(event)
  await harness.untilDone(event.id)
  return event.id
}

t.test('a rule that needs too much work fails by itself, and is paused after three events', async (t) => {
  const harness = await createHarness(t)
  const costly = await createRule(harness, expensive)
  const sound = await harness.createRule([task])
  harness.startWorker()
  for (let n = 0; n < 3; n++) {
    const eventId = await run(harness)
    matchLists(
      t,
      await harness.own.execution.findMany({ where: { eventId }, orderBy: { handlerId: 'asc' } }),
      [
        { handlerId: costly, status: 'failed', error: /cost units per event/, results: [] },
        { handlerId: sound, status: 'succeeded' },
      ],
    )
  }
  const isActive = async (id: string) =>
    (await harness.own.rule.findUniqueOrThrow({ where: { id } })).isActive
  while (await isActive(costly)) await setTimeout(20)
  const counters = await harness.own.ruleCounters.findUniqueOrThrow({ where: { ruleId: costly } })
  t.match(counters, {
    attentionReason: 'work_budget',
    lastError: /cost units per event/,
    consecutiveFailures: 3n,
  })
  t.equal(await isActive(sound), true)
})

t.test(
  'an execution that failed before its conditions were evaluated is evaluated when it is retried',
  async (t) => {
    const harness = await createHarness(t)
    const ruleId = await createRule(harness, expensive)
    harness.startWorker()
    const eventId = await run(harness)
    const id = executionIdOf({ id: eventId, addressee: null }, ruleId)
    const retry = async (version: 'same' | 'latest') => {
      const [reopened] = await harness.own.$transaction((transaction) =>
        reopenExecutions(transaction, narrowToExecution(harness.workspaceId, id), version, 1),
      )
      if (reopened)
        await harness.queue.addDue({
          executionId: id,
          workspaceId: harness.workspaceId,
          createdBy: null,
          ...reopened,
        })
    }
    t.match(await harness.untilStatus(id, 'failed'), {
      error: /cost units per event/,
      results: { length: 0 },
    })
    await retry('same')
    t.match(await harness.untilStatus(id, 'failed'), {
      error: /cost units per event/,
      results: { length: 0 },
    })

    const definition = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', actions: [task] }
    const conditions = [{ field: 'text', operator: 'equals', value: 'another' }]
    await harness.own.rule.update({ where: { id: ruleId }, data: { version: 2, conditions } })
    const version = {
      ...definition,
      conditions,
      ruleId,
      version: 2,
      workspaceId: harness.workspaceId,
      createdBy: 'test',
    }
    await harness.own.ruleVersion.create({ data: version })
    await retry('latest')
    t.match(await harness.untilStatus(id, 'cancelled'), { error: 'The conditions do not hold' })
    t.equal(await harness.own.task.count(), 0)
  },
)
