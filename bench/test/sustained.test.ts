import { isDeepStrictEqual } from 'node:util'
import { compileRule, Evaluation, findRuleFaults, type RuleDefinition, ruleHolds } from '@automation/engine'
import t from 'tap'
import { isSustained } from '../src/sustained/steps.js'
import { eventOf, rulesOf, tenantCount } from '../src/sustained/tenants.js'

const outcome = { seconds: 300, elapsedSeconds: 300.1, drainSeconds: 0.2, failures: 0, isOverrun: false }

t.test('a rate is sustained if everything had its response and no backlog grew', async (t) => {
  t.equal(isSustained(outcome), true)
  t.equal(isSustained({ ...outcome, drainSeconds: 2.1 }), false, 'a backlog')
  t.equal(isSustained({ ...outcome, elapsedSeconds: 302.1 }), false, 'late responses')
  t.equal(isSustained({ ...outcome, failures: 1 }), false, 'a failure')
  t.equal(isSustained({ ...outcome, isOverrun: true, elapsedSeconds: 20 }), false, 'an early end')
})

t.test('one of the ten rules of a tenant matches each of its events', async (t) => {
  t.ok(tenantCount >= 50)
  for (let tenant = 0; tenant < tenantCount; tenant++) {
    const definitions = rulesOf(tenant) as unknown as RuleDefinition[]
    t.same(definitions.flatMap(findRuleFaults), [])
    const rules = definitions.map(compileRule)
    for (const event of [0, 7]) {
      const data = eventOf(tenant, event)
      const matching = rules.filter((rule) => ruleHolds(rule, data, new Evaluation(0)))
      t.equal(matching.length, 1, `tenant ${tenant}, event ${event}`)
    }
  }
})

t.test('no two tenants have the same fields', async (t) => {
  const shapes = Array.from({ length: tenantCount }, (_, tenant) => Object.keys(eventOf(tenant, 0)))
  for (const [index, shape] of shapes.entries())
    t.equal(
      shapes.findIndex((other) => isDeepStrictEqual(other, shape)),
      index,
    )
})
