import { type CompiledRule, compileRule, indexRules, Judging, ruleHolds } from '@automation/engine'
import type { Contest } from './contest.js'
import { proveEqual } from './prove-equal.js'

const sizes = [10, 1_000, 100_000]

/** Sets of rules of which one matches: all require the same status, and each its own customer. */
export async function planRuleSets(): Promise<Contest[]> {
  const contests: Contest[] = []
  for (const size of sizes) contests.push(...(await planRuleSet(size)))
  return contests
}

async function planRuleSet(size: number): Promise<Contest[]> {
  const rules = Array.from({ length: size }, (_, customer) => makeRule(customer))
  const index = indexRules(rules)
  const now = Date.now()
  const events = Array.from({ length: 64 }, (_, n) => makeEvent((n * 37) % size))
  const findByIndex = (event: object) =>
    index
      .findCandidates(event)
      .filter((place) => ruleHolds(rules[place] as CompiledRule, event, new Judging(now)))
  const findByAll = (event: object) =>
    [...rules.keys()].filter((place) => ruleHolds(rules[place] as CompiledRule, event, new Judging(now)))

  const name = `${size.toLocaleString('en-US')} rules`
  await proveEqual(name, [...events, makeEvent(size), {}], findByIndex, findByAll)
  const search: Contest = {
    name: `${name}, 1 matches`,
    sides: [
      {
        name: 'index',
        run(times) {
          let found = 0
          for (let n = 0; n < times; n++) {
            const event = events[n % 64] as object
            for (const place of index.findCandidates(event))
              if (ruleHolds(rules[place] as CompiledRule, event, new Judging(now))) found++
          }
          checkFound(found, times)
        },
      },
      {
        name: 'one after another',
        run(times) {
          let found = 0
          for (let n = 0; n < times; n++)
            for (const rule of rules) if (ruleHolds(rule, events[n % 64], new Judging(now))) found++
          checkFound(found, times)
        },
      },
    ],
  }
  const build: Contest = {
    name: `${name}, compiled and indexed`,
    sides: [
      {
        name: 'index',
        run(times) {
          for (let n = 0; n < times; n++) indexRules(rules)
        },
      },
      {
        name: 'compile',
        run(times) {
          for (let n = 0; n < times; n++) Array.from({ length: size }, (_, customer) => makeRule(customer))
        },
      },
    ],
  }
  return [search, build]
}

function makeRule(customer: number): CompiledRule {
  return compileRule({
    conditions: [
      { field: 'status', operator: 'equals', value: 'new' },
      { field: 'customer.id', operator: 'equals', value: `customer-${customer}` },
      { field: 'score', operator: 'greater_than', value: 10 },
    ],
    actions: [],
  })
}

function makeEvent(customer: number): object {
  return { status: 'new', customer: { id: `customer-${customer}` }, score: 50 }
}

function checkFound(found: number, times: number): void {
  if (found !== times) throw new Error(`${times} events found ${found} rules`)
}
