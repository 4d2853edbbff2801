import { type Condition, compileRule, Evaluation, explainRule, ruleHolds } from '@automation/engine'
import { type Contest, proveEqual } from './contest.js'
import { fetchPeer, type Peer } from './fetch-peer.js'

type Lead = {
  score: number
  status: string
  country: string
  tags: string[]
  employees: number
}

const good: Lead = { score: 95, status: 'new', country: 'DE', tags: ['web', 'vip'], employees: 200 }
/** An event for each condition, which fails for it. */
const bad: Lead[] = [
  { ...good, score: 80 },
  { ...good, status: 'old' },
  { ...good, country: 'US' },
  { ...good, tags: [] },
  { ...good, employees: 49 },
]

/** Rules with five conditions that all hold, so that no side gains by stopping early. */
export async function planConditions(): Promise<Contest[]> {
  const fetched = await fetchPeer()
  return [
    await contest(
      fetched,
      '5 conditions on fields',
      (field) => field,
      (lead) => lead,
      fieldFact,
    ),
    await contest(
      fetched,
      '5 conditions on paths',
      (field) => `lead.${field}`,
      (lead) => ({ lead }),
      pathFact,
    ),
  ]
}

async function contest(
  { Engine }: Peer,
  name: string,
  pathOf: (field: string) => string,
  dataOf: (lead: Lead) => Record<string, unknown>,
  factOf: (field: string) => { fact: string; path?: string },
): Promise<Contest> {
  const conditions: Condition[] = [
    { field: pathOf('score'), operator: 'greater_than', value: 80 },
    { field: pathOf('status'), operator: 'equals', value: 'new' },
    { field: pathOf('country'), operator: 'in', value: ['DE', 'AT', 'CH'] },
    { field: pathOf('tags'), operator: 'contains', value: 'vip' },
    { field: pathOf('employees'), operator: 'greater_than_or_equal', value: 50 },
  ]
  const peerRule = {
    conditions: {
      all: [
        { ...factOf('score'), operator: 'greaterThan', value: 80 },
        { ...factOf('status'), operator: 'equal', value: 'new' },
        { ...factOf('country'), operator: 'in', value: ['DE', 'AT', 'CH'] },
        { ...factOf('tags'), operator: 'contains', value: 'vip' },
        { ...factOf('employees'), operator: 'greaterThanInclusive', value: 50 },
      ],
    },
    event: { type: 'match' },
  }
  const rule = compileRule({ conditions, actions: [] })
  const peer = new Engine([peerRule])
  const now = Date.now()
  const evaluate = (lead: Lead) => ruleHolds(rule, dataOf(lead), new Evaluation(now))
  const evaluateByPeer = async (lead: Lead) => (await peer.run(dataOf(lead))).events.length === 1
  const explain = (lead: Lead) => explainRule(rule, dataOf(lead), now).conditionsPassed
  await proveEqual(name, [good, ...bad], evaluate, evaluateByPeer)
  await proveEqual(name, [good, ...bad], explain, evaluateByPeer)

  const leads = Array.from({ length: 64 }, (_, n) => dataOf({ ...good, score: 81 + n, employees: 50 + n }))
  return {
    label: name,
    aims: [
      { ours: 'engine', atLeast: 100 },
      { ours: 'engine, explained', atLeast: 50 },
    ],
    sides: [
      {
        name: 'engine',
        run(times) {
          let held = 0
          for (let n = 0; n < times; n++) if (ruleHolds(rule, leads[n % 64], new Evaluation(now))) held++
          if (held !== times) throw new Error('A rule did not hold')
        },
      },
      {
        // The peer returns a trace of each condition, so this side is the closest to its work.
        name: 'engine, explained',
        run(times) {
          let held = 0
          for (let n = 0; n < times; n++) if (explainRule(rule, leads[n % 64], now).conditionsPassed) held++
          if (held !== times) throw new Error('A rule did not hold')
        },
      },
      {
        name: 'json-rules-engine',
        async run(times) {
          for (let n = 0; n < times; n++) await peer.run(leads[n % 64])
        },
      },
    ],
  }
}

function fieldFact(field: string) {
  return { fact: field }
}

function pathFact(field: string) {
  return { fact: 'lead', path: `$.${field}` }
}
