import { type CheckedRule, checkRules } from '@automation/check'
import { Domain, type Planted, plantedCodes, plantFault, Random, refute } from '@automation/check/corpus'
import { type Aim, createAim, createExactAim } from '../aims.js'
import type { Plan } from '../benchmark.js'
import type { Options } from '../options.js'
import { alignColumns } from '../report.js'
import { median } from '../statistics.js'
import { measureTests } from './measure-tests.js'
import { ruleSets } from './rule-sets.js'

const now = Date.parse('2026-03-10T12:00:00.000Z')
const moments = [now, now + 86_400_000, now + 2_000 * 86_400_000]
const perCode = 80
const eventsPerFault = 200

interface Result {
  name: string
  rules: number
  findings: number
  notKnown: number
  /** CPU of one check of the set, in each round. */
  milliseconds: number[]
}

/** The check of rule sets: what it finds of planted faults, how much of it is false, and the CPU that it needs. Without servers. */
export function planCheck({ only, rounds }: Options): Plan {
  return {
    workers: null,
    async run() {
      const faults = measureFaults()
      const perRule = [faults, ...Array.from({ length: rounds - 1 }, measureFaults)].map(
        ({ milliseconds, rules }) => milliseconds / rules,
      )
      const results = ruleSets
        .filter(({ name }) => name.includes(only))
        .map(({ name, rules }) => measureSet(name, rules(1_000), rounds))
      const tests = await measureTests(1_000, rounds)
      return {
        results: [faults, ...results, { name: '1,000 tests', milliseconds: tests }],
        aims: [
          ...listAims(faults, perRule, results),
          createAim({
            title: 'ms from start to end, rules test with 1,000 tests',
            rounds: tests,
            atMost: 1_000,
            digits: 0,
          }),
        ],
        text: formatTable(results),
      }
    },
  }
}

/** Plants faults of each kind, and refutes what is found with the engine and random events. */
function measureFaults() {
  const total = { planted: 0, found: 0, findings: 0, wrong: 0, rules: 0, milliseconds: 0 }
  for (const code of plantedCodes) {
    for (let seed = 0; seed < perCode; seed++) {
      const random = new Random(seed * 7_919 + code.length)
      const fault = plantFault(random, code)
      const options = { now, ...(fault.observed && { findObserved: () => fault.observed }) }
      checkRules(fault.rules, options)
      const { result, milliseconds } = timed(() => checkRules(fault.rules, options))
      const domain = new Domain(fault.rules, now)
      const events = Array.from({ length: eventsPerFault }, () => domain.event(random))
      total.planted++
      total.rules += fault.rules.length
      total.milliseconds += milliseconds
      total.findings += result.findings.length
      if (result.findings.some((finding) => finding.code === code && concerns(finding, fault))) total.found++
      total.wrong += result.findings.filter(
        (finding) => refute(finding, fault.rules, events, moments) !== undefined,
      ).length
    }
  }
  return total
}

function concerns(
  { rule, others }: ReturnType<typeof checkRules>['findings'][number],
  fault: Planted,
): boolean {
  const indexes = [rule, ...others].map(({ index }) => index)
  return [fault.rule, ...fault.others].every((index) => indexes.includes(index))
}

function measureSet(name: string, rules: CheckedRule[], rounds: number): Result {
  const figures = Array.from({ length: rounds + 1 }, () => timed(() => checkRules(rules, { now })))
  const { findings = [], notKnown = [] } = figures[0]?.result ?? {}
  return {
    name,
    rules: rules.length,
    findings: findings.length,
    notKnown: notKnown.length,
    milliseconds: figures.slice(1).map(({ milliseconds }) => milliseconds),
  }
}

/** CPU and not time: other work on the machine does not count. */
function timed<Value>(work: () => Value): { result: Value; milliseconds: number } {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  return { result, milliseconds: (user + system) / 1_000 }
}

function listAims(faults: ReturnType<typeof measureFaults>, perRule: number[], results: Result[]): Aim[] {
  return [
    createExactAim({
      title: `false findings, of ${faults.findings}`,
      reached: faults.wrong,
      atMost: 0,
      digits: 0,
    }),
    createExactAim({
      title: `planted faults found, of ${faults.planted}, in %`,
      reached: (100 * faults.found) / faults.planted,
      atLeast: 99,
      digits: 1,
    }),
    createAim({ title: 'CPU ms a rule, planted faults', rounds: perRule, atMost: 1, digits: 2 }),
    ...results.map(({ name, milliseconds: rounds }) =>
      createAim({ title: `CPU ms, ${name}`, rounds, atMost: 1_000, digits: 0 }),
    ),
  ]
}

function formatTable(results: Result[]): string {
  const rows = results.map(({ name, rules, findings, notKnown, milliseconds }) =>
    [name, rules, findings, notKnown, Math.round(median(milliseconds))].map(String),
  )
  return alignColumns([['1,000 rules of one trigger', 'rules', 'findings', 'not known', 'CPU ms'], ...rows])
}
