import { setTimeout } from 'node:timers/promises'
import { executionIdOf } from '@automation/database'
import { narrowToExecution, reopenExecutions } from '@automation/ledger'
import t from 'tap'
import { type House, openHouse } from './fixtures/house.js'
import { matchLists } from './fixtures/match-lists.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const expensive = { field: 'text', operator: 'not_matches', value: '(?i)a[ab]{240}[cd]' }
const data = { text: 'ab'.repeat(20_000) }

/** A rule with one condition, on which no other event has run. */
async function createRule(house: House, condition: object): Promise<string> {
  const ruleId = await house.createRule([task])
  await house.own.rule.update({ where: { id: ruleId }, data: { conditions: [condition] } })
  await house.own.ruleVersion.updateMany({ where: { ruleId }, data: { conditions: [condition] } })
  return ruleId
}

async function run(house: House): Promise<string> {
  const event = { ...house.newEvent(), data }
  await house.inbox.accept(event)
  await house.untilDone(event.id)
  return event.id
}

t.test('a rule that needs too much work fails by itself, and is paused after three events', async (t) => {
  const house = await openHouse(t)
  const costly = await createRule(house, expensive)
  const sound = await house.createRule([task])
  house.startWorker()
  for (let n = 0; n < 3; n++) {
    const eventId = await run(house)
    matchLists(t, await house.own.execution.findMany({ where: { eventId }, orderBy: { ruleId: 'asc' } }), [
      { ruleId: costly, status: 'failed', error: /RULE_WORK/, results: [] },
      { ruleId: sound, status: 'succeeded' },
    ])
  }
  const isActive = async (id: string) => (await house.own.rule.findUniqueOrThrow({ where: { id } })).isActive
  while (await isActive(costly)) await setTimeout(20)
  const counters = await house.own.ruleCounters.findUniqueOrThrow({ where: { ruleId: costly } })
  t.match(counters, { attentionReason: 'work_budget', lastError: /RULE_WORK/, consecutiveFailures: 3n })
  t.equal(await isActive(sound), true)
})

t.test(
  'an execution that failed before its conditions were judged is judged when it is retried',
  async (t) => {
    const house = await openHouse(t)
    const ruleId = await createRule(house, expensive)
    house.startWorker()
    const eventId = await run(house)
    const id = executionIdOf({ id: eventId, addressee: null }, ruleId)
    const retry = async (version: 'same' | 'latest') => {
      const [reopened] = await house.own.$transaction((transaction) =>
        reopenExecutions(transaction, narrowToExecution(house.workspaceId, id), version, 1),
      )
      if (reopened) await house.queue.addDue({ executionId: id, workspaceId: house.workspaceId, ...reopened })
    }
    t.match(await house.untilStatus(id, 'failed'), { error: /RULE_WORK/, results: [] })
    await retry('same')
    t.match(await house.untilStatus(id, 'failed'), { error: /RULE_WORK/, results: [] })

    const definition = { name: 'Rule', description: '', trigger: 'LEAD_CREATED', actions: [task] }
    const conditions = [{ field: 'text', operator: 'equals', value: 'another' }]
    await house.own.rule.update({ where: { id: ruleId }, data: { version: 2, conditions } })
    const version = {
      ...definition,
      conditions,
      ruleId,
      version: 2,
      workspaceId: house.workspaceId,
      createdBy: 'test',
    }
    await house.own.ruleVersion.create({ data: version })
    await retry('latest')
    t.match(await house.untilStatus(id, 'cancelled'), { error: 'The conditions do not hold' })
    t.equal(await house.own.task.count(), 0)
  },
)
