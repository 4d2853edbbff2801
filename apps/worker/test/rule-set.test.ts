import { newId, ruleSetIdOf } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { noRules, readRuleSet, writeRuleSet } from '../src/running/rule-set.js'
import { createHarness, type Harness } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

t.test('events that consider the same rules share a set, also after a change of a definition', async (t) => {
  const harness = await createHarness(t)
  const first = await harness.createRule([task])
  harness.startWorker()
  harness.startWorker()
  const sets = new Set<string | null>()
  for (let event = 0; event < 6; event++) sets.add(await runEvent(harness))
  await changeRules(harness, () => harness.own.rule.update({ where: { id: first }, data: { version: 2 } }))
  sets.add(await runEvent(harness))
  t.same([...sets], [ruleSetIdOf([first])])

  let second = ''
  await changeRules(harness, async () => {
    second = await harness.createRule([task])
  })
  t.equal(await runEvent(harness), ruleSetIdOf([first, second]))
  await changeRules(harness, () => harness.own.rule.deleteMany())
  t.equal(await runEvent(harness), null)
  matchLists(t, await harness.own.ruleSet.findMany({ orderBy: { usedAt: 'asc' } }), [
    { ruleIds: [first] },
    { ruleIds: [first, second] },
  ])
})

t.test('of many rules the matching ones run, in creation order, with or without the index', async (t) => {
  const harness = await createHarness(t)
  const rome = { field: 'city', operator: 'equals', value: 'Rome' }
  const three = { field: 'size', operator: 'equals', value: '3.0' }
  const large = { field: 'size', operator: 'greater_than', value: 10 }
  const oslo = { ...rome, value: 'Oslo' }
  const rules: string[] = []
  for (const conditions of [[rome], [], [oslo], [rome, three], [rome, large], [three], [oslo, three]]) {
    const id = await harness.createRule([task])
    await harness.own.rule.update({ where: { id }, data: { conditions } })
    rules.push(id)
  }
  harness.startWorker()
  const event = { ...harness.newEvent(), data: { city: 'Rome', size: 3 } }
  await harness.inbox.accept(event)
  t.same(await harness.readConsidered(event.id), rules)
  const executions = await harness.own.execution.findMany({ select: { handlerId: true } })
  t.same(executions.map(({ handlerId: ruleId }) => rules.indexOf(ruleId)).sort(), [0, 1, 3, 5])
})

t.test('an event that is addressed to one rule names it, and needs no set', async (t) => {
  const harness = await createHarness(t)
  const rule = await harness.createRule([task])
  harness.startWorker()
  const event = harness.newEvent('LEAD_CREATED', { kind: 'rule', id: rule })
  await harness.inbox.accept(event)
  t.equal((await harness.untilDone(event.id)).ruleSetId, rule)
  t.same(await harness.own.ruleSet.findMany(), [])
})

t.test('writing the same set again updates its time of use', async (t) => {
  const { database, own, workspaceId } = await createHarness(t)
  const ruleIds = [newId(), newId()]
  const id = await writeRuleSet(database, workspaceId, ruleIds)
  const readUsedAt = async () => (await own.ruleSet.findFirstOrThrow({ where: { id } })).usedAt.getTime()
  const usedAt = await readUsedAt()
  await writeRuleSet(database, workspaceId, ruleIds)
  t.equal(await readUsedAt(), usedAt, 'but not each time')
  await own.ruleSet.updateMany({ data: { usedAt: new Date(0) } })
  t.equal(await writeRuleSet(database, workspaceId, ruleIds), id)
  t.ok((await readUsedAt()) >= usedAt)
  for (const [minutes, isAnew] of [
    [29, false],
    [31, true],
  ] as const) {
    const before = new Date(Date.now() - minutes * 60_000)
    await own.ruleSet.updateMany({ data: { usedAt: before } })
    await writeRuleSet(database, workspaceId, ruleIds)
    t.equal((await readUsedAt()) > before.getTime(), isAnew, `last used ${minutes} minutes ago`)
  }
  t.not(
    await writeRuleSet(database, workspaceId, ruleIds.toReversed()),
    id,
    'the order of the rules is part of a set',
  )
  t.equal(await own.ruleSet.count(), 2)
})

t.test('unchanged rules are not compiled again', async (t) => {
  const harness = await createHarness(t)
  const rules = [
    await harness.createRule([task]),
    await harness.createRule([task]),
    await harness.createRule([task]),
  ]
  await harness.createRule([task], 'DEAL_WON')
  const event = {
    ...harness.newEvent(),
    depth: 0,
    rootId: null,
    rulesVersion: 0,
    acceptedAt: Date.now(),
    autoPauseAfter: null,
    createdBy: null,
    heapBytes: 2,
  }
  const read = (known = noRules) => readRuleSet(harness.database, event, known)
  const first = await read()
  t.same(
    first.rules.map(({ id }) => id),
    rules,
  )
  t.equal(await read(first), first)

  await harness.own.rule.update({ where: { id: rules[1] ?? '' }, data: { version: 2, name: 'Renamed' } })
  const second = await read(first)
  matchLists(t, second, {
    id: first.id,
    rules: [{ name: 'Rule' }, { name: 'Renamed', version: 2 }, { name: 'Rule' }],
  })
  t.equal(second.rules[0], first.rules[0])
  t.equal(second.rules[2], first.rules[2])

  await harness.own.rule.update({ where: { id: rules[0] ?? '' }, data: { isActive: false } })
  const third = await read(second)
  t.same(third.rules, second.rules.slice(1))
  t.same(third.findCandidates({}), [0, 1])
  await harness.own.rule.deleteMany()
  t.match(await read(third), { id: null, rules: { length: 0 } })
})

/** Runs an event. @returns its rule set */
async function runEvent(harness: Harness): Promise<string | null> {
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  return (await harness.untilDone(event.id)).ruleSetId
}

/** Changes rules as the product does, and increments the version of the workspace's rules. */
async function changeRules({ own }: Harness, change: () => Promise<unknown>): Promise<void> {
  await change()
  await own.workspace.updateMany({ data: { rulesVersion: { increment: 1 } } })
}
