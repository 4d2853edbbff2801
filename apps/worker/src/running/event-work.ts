import { yieldEvery } from '@automation/admission'
import { postgresNow } from '@automation/database'
import { type Evaluation, findOutranked, ruleHolds } from '@automation/engine'
import { isLeftOut, type LoadedEvent } from '@automation/ledger'
import type { Span } from '@automation/process/telemetry'
import type { HeldExecution } from '../calls/held-execution.js'
import { countRows, msPerByte, msPerUnit } from '../executions/cost.js'
import type { EffectBudget } from '../executions/effect-budget.js'
import { beginExecution, type Execution, failUnevaluated } from '../executions/execution.js'
import { keyToClaim } from '../executions/key-to-claim.js'
import type { ReadyRule } from '../executions/ready-rule.js'
import { traceExecution } from '../executions/trace-executions.js'
import type { RuleSet } from './rule-set.js'

/** How long (ms) work may hold the event loop before others have a turn: leases and locks of jobs are renewed there. */
const sliceMs = 10
/** To begin a row. */
const msPerRow = 0.01

/** @param cost of the work so far */
export type Pause = (cost: number) => Promise<void>

interface Parts {
  event: LoadedEvent
  set: RuleSet
  /** What the rules may still have recorded. */
  budget: EffectBudget
  /** What their conditions may still cost. */
  evaluation: Evaluation
  span: Span | undefined
  /** @returns the execution, if it has a call */
  begin: (execution: Execution) => HeldExecution[]
}

/**
 * The work of one event in the event loop, in slices: its rules are evaluated in their order, and then the executions of those that match begin, but only
 * the first of each group. A rule that does not compile, and one whose conditions need too much work, fails by itself: its execution says why.
 */
export class EventWork {
  readonly event: LoadedEvent
  readonly set: RuleSet
  readonly budget: EffectBudget
  readonly span: Span | undefined
  executions: Execution[] = []
  /** By the index of a rule that matched and has no execution, that of the rule of its group that has one; null: there is none. */
  outranked: ReadonlyMap<number, number> | null = null
  /** Executions that have a call to be made after the commit. */
  readonly calls: HeldExecution[] = []
  readonly #evaluation: Evaluation
  readonly #begin: Parts['begin']
  readonly #candidates: readonly number[]
  readonly #startedAt = new Date(postgresNow())
  /** The indexes of the rules that have an execution. */
  readonly #matched: number[] = []
  #evaluated = 0
  #begun = 0
  #rows = 0

  constructor({ event, set, budget, evaluation, span, begin }: Parts) {
    this.event = event
    this.set = set
    this.budget = budget
    this.span = span
    this.#evaluation = evaluation
    this.#begin = begin
    this.#candidates = leaveOut(set, event, set.findCandidates(event.data))
  }

  /** What it has cost so far: ms of the event loop. */
  get cost(): number {
    const bytes = this.event.heapBytes + this.budget.bytes
    return this.#evaluation.spent * msPerUnit + bytes * msPerByte + this.#rows * msPerRow
  }

  /** Works until all is done. @param pause lets other work go first, after a slice */
  async finish(pause: Pause): Promise<void> {
    const turn = yieldEvery(sliceMs)
    if (turn) await turn
    while (!this.advance()) {
      await pause(this.cost)
      await yieldEvery(sliceMs)
    }
  }

  /** Works for a slice of time. @returns whether all is done */
  advance(): boolean {
    const endsAt = this.cost + sliceMs
    while (!this.#isDone && this.cost < endsAt) {
      if (this.#hasCandidates) this.#evaluateNext()
      else this.#beginNext()
    }
    return this.#isDone
  }

  /**
   * Gives back what is not continued.
   *
   * @param held the executions that this worker continues; undefined if nothing was stored
   */
  close(held: Execution[] | undefined, abandon: (call: HeldExecution) => void): void {
    for (const call of this.calls) if (!held?.includes(call.execution)) abandon(call)
    if (held === undefined) {
      this.budget.refund()
      for (const { span } of this.executions) span?.end(true)
    }
    this.span?.end(true)
  }

  get #hasCandidates(): boolean {
    return this.#evaluated < this.#candidates.length
  }

  get #isDone(): boolean {
    return !this.#hasCandidates && this.#begun === this.executions.length
  }

  #evaluateNext(): void {
    const index = this.#candidates[this.#evaluated++] as number
    const rule = this.set.rules[index] as ReadyRule
    const evaluation = this.#evaluation
    if ('fault' in rule.compiled || ruleHolds(rule.compiled, this.event.data, evaluation))
      this.#add(rule, index)
    else if (evaluation.fault !== null) failUnevaluated(this.#add(rule, index).record, evaluation)
    if (this.set.hasGroups && !this.#hasCandidates) this.#keepFirsts()
  }

  #keepFirsts(): void {
    const { rules } = this.set
    const isChosen = (index: number) => !isLeftOut((rules[index] as ReadyRule).id, this.event.chosenRuleIds)
    const outranked = findOutranked(rules, this.#matched)
    const runs = this.#matched.map((index) => isChosen(index) && !outranked.has(index))
    if (runs.every(Boolean)) return
    const shown = [...outranked].filter(([index]) => isChosen(index))
    if (shown.length > 0) this.outranked = new Map(shown)
    this.executions = this.executions.filter((_, place) => runs[place])
  }

  #add(rule: ReadyRule, index: number): Execution {
    const { event, budget } = this
    const beginning = { event, budget, startedAt: this.#startedAt, evaluation: this.#evaluation }
    const execution = beginExecution(rule, beginning)
    this.executions.push(execution)
    this.#matched.push(index)
    return execution
  }

  #beginNext(): void {
    const execution = this.executions[this.#begun++]
    if (execution === undefined) return
    // One that has failed before its actions began needs nothing.
    if (execution.record.finishedAt === null) this.#claimKey(execution)
    traceExecution(this.span, execution)
    // The commit puts its event into a batch, which begins later.
    if (execution.claim?.perKey.collect === undefined) this.calls.push(...this.#begin(execution))
    this.#rows += countRows([execution])
  }

  /** Without its key an execution would share that of others, so it fails. */
  #claimKey(execution: Execution): void {
    const claim = keyToClaim(execution.rule, this.event, this.#evaluation)
    if (typeof claim === 'string') failUnevaluated(execution.record, this.#evaluation, claim)
    else execution.claim = claim
  }
}

/**
 * In a replay of chosen rules the others do nothing. Who is first in a group does not depend on the choice, so the members of a chosen rule's
 * group are evaluated with it.
 */
function leaveOut({ rules }: RuleSet, { chosenRuleIds }: LoadedEvent, candidates: readonly number[]) {
  if (!chosenRuleIds) return candidates
  const chosen = rules.filter(({ id }) => !isLeftOut(id, chosenRuleIds))
  const groups = new Set(chosen.flatMap(({ group }) => group ?? []))
  return candidates.filter((index) => {
    const rule = rules[index] as ReadyRule
    return chosen.includes(rule) || (rule.group !== null && groups.has(rule.group))
  })
}
