import { type CompiledRule, compileRule, Evaluation, indexRules, ruleHolds } from '@automation/engine'
import { type Contest, proveEqual } from './contest.js'

/** A workspace of the product has 1,000 rules at most. */
const sizes = [10, 1_000, 100_000]

type MakeRule = (number: number) => CompiledRule
type MakeEvent = (number: number) => object

/** Sets of rules of which one matches: the best case of the index, and its worst. */
export async function planRuleSets(): Promise<Contest[]> {
  const contests: Contest[] = []
  for (const size of sizes) contests.push(...(await planRuleSet(size)))
  // Without equality the index finds nothing to tell rules apart by, and every rule is evaluated.
  for (const size of sizes.slice(0, 2))
    contests.push(
      await planSearch(`${tell(size)} rules, 1 matches, none by equality`, size, makeRange, makeScore),
    )
  return contests
}

async function planRuleSet(size: number): Promise<Contest[]> {
  const name = `${tell(size)} rules`
  return [
    await planSearch(`${name}, 1 matches, by equality`, size, makeRule, makeEvent),
    planBuild(`${name}, compiled and indexed`, size),
  ]
}

async function planSearch(name: string, size: number, make: MakeRule, eventOf: MakeEvent): Promise<Contest> {
  const rules = Array.from({ length: size }, (_, number) => make(number))
  const index = indexRules(rules)
  const now = Date.now()
  const events = Array.from({ length: 64 }, (_, n) => eventOf((n * 37) % size))
  const isMatch = (place: number, event: object) =>
    ruleHolds(rules[place] as CompiledRule, event, new Evaluation(now))
  const findByIndex = (event: object) => index.findCandidates(event).filter((place) => isMatch(place, event))
  const findByAll = (event: object) => [...rules.keys()].filter((place) => isMatch(place, event))
  await proveEqual(name, [...events, eventOf(size), {}], findByIndex, findByAll)
  return {
    label: name,
    sides: [
      {
        name: 'index',
        run(times) {
          let found = 0
          for (let n = 0; n < times; n++) {
            const event = events[n % 64] as object
            for (const place of index.findCandidates(event)) if (isMatch(place, event)) found++
          }
          checkFound(found, times)
        },
      },
      {
        name: 'one after another',
        run(times) {
          let found = 0
          for (let n = 0; n < times; n++)
            for (const rule of rules) if (ruleHolds(rule, events[n % 64], new Evaluation(now))) found++
          checkFound(found, times)
        },
      },
    ],
  }
}

function planBuild(name: string, size: number): Contest {
  const rules = Array.from({ length: size }, (_, customer) => makeRule(customer))
  return {
    label: name,
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

/** Rules that differ in a range only, so that one number falls into one of them. */
function makeRange(number: number): CompiledRule {
  return compileRule({
    conditions: [
      { field: 'score', operator: 'greater_than_or_equal', value: 10 * number },
      { field: 'score', operator: 'less_than', value: 10 * number + 10 },
    ],
    actions: [],
  })
}

function makeScore(number: number): object {
  return { status: 'new', score: 10 * number + 5 }
}

function tell(size: number): string {
  return size.toLocaleString('en-US')
}

function checkFound(found: number, times: number): void {
  if (found !== times) throw new Error(`${times} events found ${found} rules`)
}
