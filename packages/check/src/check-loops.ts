import {
  type CheckedRule,
  type Clause,
  compileRule,
  Evaluation,
  findOperator,
  maxEmissionDepth,
  planRule,
  type WorkBudget,
} from '@automation/engine'
import { Atoms, isOpaque } from './atoms.js'
import { isGrouped } from './check-groups.js'
import { type FindSource, fromEvent, type Source, throughEmission } from './emission.js'
import type { CheckFindings, Witness } from './finding.js'
import { type Formula, formulaOf, type Translate } from './formula.js'
import { addSample, fillSamples, sampleValues, unitsPerSample } from './placeholders.js'
import { actionOf, findDone, type PlacedAction } from './reach.js'
import { solve } from './solve.js'
import { Space } from './space.js'
import { keysOf } from './write-value.js'

/** A rule that emits an event, by one of its actions. */
interface Step extends PlacedAction {
  readonly index: number
  readonly emits: string
  readonly data: unknown
  readonly isEach: boolean
}

const maxCycles = 2_000
const maxFindings = 100

/** Finds rules that trigger one another in a circle, with an event that goes round until the limit `chain` ends it. */
export function checkLoops(
  rules: readonly CheckedRule[],
  indexes: readonly number[],
  now: number,
  report: CheckFindings,
): void {
  const byTrigger = new Map<string, Step[]>()
  for (const index of indexes) {
    const rule = rules[index] as CheckedRule
    rule.actions.forEach((action, n) => {
      if (action.type !== 'EMIT_EVENT') return
      const { eventType: emits, data, forEach } = action.config
      const step = { index, rule, action: n, emits, data, isEach: forEach !== undefined }
      const known = byTrigger.get(rule.trigger)
      if (known === undefined) byTrigger.set(rule.trigger, [step])
      else known.push(step)
    })
  }
  const search = { budget: maxCycles, found: 0, links: new Map<string, boolean>() }
  for (const steps of byTrigger.values()) {
    for (const first of steps) walk([first])
  }

  function walk(cycle: readonly Step[]): void {
    const [first, last] = [cycle[0] as Step, cycle.at(-1) as Step]
    for (const next of byTrigger.get(last.emits) ?? []) {
      if (search.found >= maxFindings) return
      if (report.budget.isOver) {
        const path = `actions[${first.action}]`
        report.leaveOpen('loop', first.index, path, 'Not all chains were followed')
        return
      }
      if (search.budget-- <= 0) {
        if (search.budget === -1)
          report.leaveOpen(
            'loop',
            first.index,
            'actions',
            `There are more than ${maxCycles} chains of EMIT_EVENT`,
          )
        return
      }
      if (!canFollow(last, next, search.links, now, report.budget)) continue
      // Each circle is looked at from its first rule only.
      if (next === first) search.found += reportCycle(cycle, now, report)
      else if (isAfter(next, first) && cycle.length < maxEmissionDepth && !cycle.includes(next))
        walk([...cycle, next])
    }
  }
}

function isAfter(one: Step, other: Step): boolean {
  return one.index > other.index || (one.index === other.index && one.action > other.action)
}

function canFollow(
  one: Step,
  next: Step,
  known: Map<string, boolean>,
  now: number,
  budget: WorkBudget,
): boolean {
  const key = `${one.index} ${one.action} ${next.index} ${next.action}`
  let can = known.get(key)
  if (can === undefined) {
    can = findEvent([one, next], now, budget).is !== 'impossible'
    known.set(key, can)
  }
  return can
}

function reportCycle(cycle: readonly Step[], now: number, report: CheckFindings): number {
  const first = cycle[0] as Step
  const found = findEvent([...cycle, first], now, report.budget)
  if (found.is === 'impossible') return 0
  const path = `actions[${first.action}]`
  const isOpen = found.is !== 'possible' || cycle.some(({ rule }) => isGrouped(rule))
  const witness = isOpen ? undefined : confirm(cycle, found.data, now, report.budget)
  if (witness === undefined) {
    report.leaveOpen('loop', first.index, path, 'Whether an event loops could not be decided')
    return 0
  }
  const chain = [...cycle, first].map(({ rule }) => JSON.stringify(rule.name))
  const message = `Triggers itself: ${chain.flatMap((name, n) => (n === 0 ? [name] : [cycle[n - 1]?.emits ?? '', name])).join(' → ')}. The loop ends at the limit of ${maxEmissionDepth} events.`
  const others = cycle
    .slice(1)
    .map((step) => ({ ...report.refer(step.index), path: `actions[${step.action}]` }))
  report.find('loop', first.index, path, message, { others, witness })
  return 1
}

type Found = { is: 'possible'; data: Record<string, unknown> } | { is: 'impossible' } | { is: 'unknown' }

/** Finds an event with which each of the steps follows on the one before. Texts that are made of several parts are taken to fit. */
function findEvent(steps: readonly Step[], now: number, budget: WorkBudget): Found {
  const atoms = new Atoms()
  const evaluation = new Evaluation(now, undefined, budget)
  const build = (space: Space | undefined): Formula[] => {
    let source: FindSource = fromEvent
    return steps.flatMap((step) => {
      const translate = translateFrom(source, atoms, space, evaluation)
      const { when } = actionOf(step)
      const formulas = [...step.rule.conditions, ...(when ? [when] : [])].map((condition) =>
        formulaOf(condition, translate),
      )
      source = throughEmission(step.data, source, step.isEach)
      return formulas
    })
  }
  build(undefined)
  const samples = sampleSteps(steps)
  budget.charge(samples.size * unitsPerSample)
  const space = new Space(atoms.list(), now, budget, samples)
  const answer = solve(build(space), space)
  // A clause on a constant that was not evaluated excludes nothing.
  if (evaluation.overrun !== null) return { is: 'unknown' }
  if (answer.is !== 'possible') return answer
  const data = space.buildData(answer.chosen)
  fillSamples(data, samples, space, answer.chosen)
  return { is: 'possible', data }
}

/** Samples for all that is done on the way, by the paths of the first event. */
function sampleSteps(steps: readonly Step[]): Map<string, unknown> {
  const samples = new Map<string, unknown>()
  let source: FindSource = fromEvent
  for (const { rule, action, data, isEach } of steps) {
    for (const [key, sample] of sampleValues(rule.actions.slice(0, action + 1), source))
      addSample(samples, key, sample)
    source = throughEmission(data, source, isEach)
  }
  return samples
}

function translateFrom(
  find: FindSource,
  atoms: Atoms,
  space: Space | undefined,
  evaluation: Evaluation,
): Translate {
  return (leaf, isNegated) => {
    // What is not decided is taken to fit, as a text of several parts is: the engine confirms the event, or leaves it open.
    if (isOpaque(leaf)) return true
    const clause = leaf as Clause
    const source: Source = find(keysOf(clause.field))
    if (source === 'made') return true
    if ('constant' in source) {
      const holds = findOperator(clause.operator)?.compile(clause.value)(source.constant, evaluation) ?? true
      return holds !== isNegated
    }
    const { atom, isNegated: isOpposite } = atoms.findAt(clause, source.keys.join('.'), source.isFilled)
    return space === undefined ? true : space.literal(atom, isOpposite !== isNegated)
  }
}

/** Lets an event go round with the engine, as often as the service would. */
function confirm(
  cycle: readonly Step[],
  data: Record<string, unknown>,
  now: number,
  budget: WorkBudget,
): Witness | undefined {
  const compiled = cycle.map(({ rule }) => compileRule(rule))
  let current: unknown = data
  let at = now
  for (let depth = 0; depth <= maxEmissionDepth; depth++) {
    const step = cycle[depth % cycle.length] as Step
    const rule = compiled[depth % cycle.length]
    const done = rule && findDone(planRule(rule, current, at, undefined, budget), step.action)
    if (done?.type !== 'EMIT_EVENT') return undefined
    const first = done.events === undefined ? (done.config.data ?? current) : done.events[0]?.data
    if (first === undefined) return undefined
    current = first
    at = done.at
  }
  return { type: (cycle[0] as Step).rule.trigger, at: new Date(now).toISOString(), data }
}
