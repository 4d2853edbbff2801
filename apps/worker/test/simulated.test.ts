import { setTimeout } from 'node:timers/promises'
import { Domain, Random, randomRules } from '@automation/check/corpus'
import { newId } from '@automation/database'
import type { ActionResult, CheckedRule } from '@automation/engine'
import { prepareRules, simulateEvents } from '@automation/rule-tests'
import t from 'tap'
import { createHarness, type Harness } from './fixtures/harness.js'

const { TEST_LONG, TEST_LARGE } = process.env
const count = TEST_LARGE ? 10_000 : TEST_LONG ? 300 : 100
const batch = 100
t.setTimeout(3_600_000)

t.test('a simulation does for events what the worker does', async (t) => {
  const harness = await createHarness(t, {}, { emissions: { perMinute: 1_000_000, descendants: 100_000 } })
  const random = new Random(7)
  const { rules, ids } = await storeRules(harness, random)
  harness.startWorker()
  const domain = new Domain(rules, Date.now())
  for (let done = 0; done < count; done += batch) {
    const events = Array.from({ length: batch }, () => ({
      ...harness.newEvent(random.chance(0.7) ? 'LEAD_CREATED' : 'LEAD_UPDATED'),
      data: domain.event(random),
    }))
    await Promise.all(events.map((event) => harness.inbox.accept(event)))
    await untilQuiet(harness)
  }
  const differences = await compareWithWorker(harness, rules, ids)
  t.same(differences.slice(0, 3), [])
  const executions = await harness.own.execution.count()
  t.ok(executions > count / 2, `${executions} executions are compared`)
})

/** Rules whose actions need nobody outside, so that the worker ends them by itself. */
async function storeRules(
  harness: Harness,
  random: Random,
): Promise<{ rules: CheckedRule[]; ids: string[] }> {
  const rules = Array.from({ length: 12 }, () => randomRules(random))
    .flat()
    .map((rule, index) => ({
      ...rule,
      name: `Rule ${index}`,
      isActive: true,
      actions: rule.actions.filter(({ type }) => type === 'CREATE_TASK'),
    }))
    .filter(({ actions }) => actions.length > 0)
  const ids: string[] = []
  for (const { name, trigger, group = null, order = null, conditions, actions } of rules) {
    const id = newId()
    ids.push(id)
    const definition = {
      workspaceId: harness.workspaceId,
      name,
      description: '',
      trigger,
      group,
      order,
      conditions,
      actions,
    }
    await harness.own.rule.create({
      data: {
        ...definition,
        id,
        isActive: true,
        counters: { create: { workspaceId: harness.workspaceId } },
      } as never,
    })
    await harness.own.ruleVersion.create({
      data: { ...definition, ruleId: id, version: 1, createdBy: 'test' } as never,
    })
  }
  return { rules, ids }
}

async function untilQuiet({ own }: Harness): Promise<void> {
  while ((await own.event.count({ where: { doneAt: null } })) > 0) await setTimeout(50)
}

/** The statuses of actions by rule and event, of worker and simulation. */
async function compareWithWorker(
  harness: Harness,
  rules: readonly CheckedRule[],
  ids: readonly string[],
): Promise<unknown[]> {
  const prepared = prepareRules(rules)
  const executions = await harness.own.execution.findMany()
  const byEvent = new Map<string, typeof executions>()
  for (const execution of executions)
    byEvent.set(execution.eventId, [...(byEvent.get(execution.eventId) ?? []), execution])
  const events = await harness.own.event.findMany()
  return events.flatMap((event) => {
    const found = byEvent.get(event.id) ?? []
    const actual = found
      .map(({ handlerId: ruleId, results }) => [
        ids.indexOf(ruleId),
        (results as unknown as ActionResult[]).map(({ status }) => status),
      ])
      .sort()
    // The worker evaluates at the moment at which the execution begins.
    const at = found[0]?.startedAt.getTime() ?? event.acceptedAt.getTime()
    const simulated = simulateEvents(prepared, [{ type: event.type, at, data: event.data as object }])
    const expected = simulated.executions
      .map(({ rule, actions }) => [rule, actions.map(({ status }) => status)])
      .sort()
    return JSON.stringify(actual) === JSON.stringify(expected)
      ? []
      : [{ data: event.data, at, actual, expected }]
  })
}
