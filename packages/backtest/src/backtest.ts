import {
  defaultWorkLimits,
  describeTick,
  Evaluation,
  nextTick,
  scheduleType,
  type WorkLimits,
} from '@automation/engine'
import { ActionDifference, type SavedActionDifference } from './action-difference.js'
import { ActionTally, type SavedAction } from './action-tally.js'
import type { BacktestSubject, TestedDefinition } from './backtest-subject.js'
import { ClauseTally } from './clause-tally.js'
import { EventEvaluator, listDone, type SavedSides, type TestedStep } from './event-evaluator.js'
import { FieldTally, type SavedFields } from './field-tally.js'
import { fitReport } from './fit-report.js'
import type { Matched } from './in-order.js'
import { KeyTurns, type SavedTurns } from './key-turns.js'
import { MatchCounts, type SavedCounts } from './match-counts.js'
import { MoveTally, type SavedMoves } from './move-tally.js'
import { listNotKnown } from './not-known.js'
import { OverTime, type SavedBuckets } from './over-time.js'
import { findOwnSchedule } from './own-ticks.js'
import type { BacktestReport } from './report.js'
import type { EventVerdicts, Side, TestedEvent } from './tested-event.js'

/** The state of a Backtest as JSON, some 10 KB to 1 MB, and up to 4 MB with `perKey`. Restored from it, a backtest goes on as if it had not stopped. */
export interface SavedBacktest {
  counts: SavedCounts
  overTime: SavedBuckets
  actions: SavedAction[]
  /** null if nothing is compared. */
  actionDifference: SavedActionDifference | null
  clauses: [held: number, aloneFailed: number][]
  fields: SavedFields
  moves: SavedMoves
  examples: Record<ExampleKind, string[]>
  /** Generated ticks before this moment (epoch ms) were added; undefined: none was. */
  ticksFrom?: number
  /** Of a subject with `perKey`. */
  keyed?: { sides: SavedSides; turns: SavedTurns }
}

type ExampleKind = 'added' | 'removed' | 'nearMisses'

const maxExamples = 20

/** What the caller knows beyond the events. */
export interface ReportContext {
  isComplete: boolean
  /** Epoch ms; null: all events are kept. */
  historyFrom?: number | null
  notes?: string[]
}

/**
 * Computes what rules would have done for past events, doing nothing: the engine evaluates each event at its acceptance, as a worker does.
 * A function of its arguments: neither clock nor chance, and its memory is bounded for any number of events.
 *
 *   new Backtest(subject) ─▶ add(event) … ─▶ save() ┄▶ new Backtest(subject, saved) ─▶ add(event) … ─▶ finish() ─▶ report()
 *
 * With `perKey`, the events of the warm-up come first: they are before the range, and count for keys alone. And some that matched are held back
 * until their order is known, or until it is finished.
 *
 * Actions, clauses and fields are those of the draft, or of the active version where there is no draft.
 */
export class Backtest {
  readonly #subject: BacktestSubject
  readonly #limits: WorkLimits
  readonly #evaluator: EventEvaluator
  readonly #shown: TestedDefinition
  readonly #counts: MatchCounts
  readonly #overTime: OverTime
  readonly #actions: ActionTally[]
  readonly #actionDifference: ActionDifference | undefined
  readonly #clauses: ClauseTally
  readonly #fields: FieldTally
  readonly #moves: MoveTally
  readonly #examples: Record<ExampleKind, string[]>
  /** undefined: no definition has `perKey`. */
  readonly #turns: KeyTurns | undefined
  #ticksFrom: number | undefined

  /** @throws where a definition does not compile */
  constructor(subject: BacktestSubject, saved?: SavedBacktest, limits: WorkLimits = defaultWorkLimits) {
    const { active, draft, from, to } = subject
    const shown = draft ?? active?.definition
    if (shown === undefined) throw new Error('A backtest needs a rule or a definition')
    this.#subject = subject
    this.#limits = limits
    this.#evaluator = new EventEvaluator(subject, limits, saved?.keyed?.sides)
    this.#turns = KeyTurns.of(subject, saved?.keyed?.turns)
    this.#shown = shown
    this.#counts = new MatchCounts(saved?.counts)
    this.#overTime = new OverTime(from, to, saved?.overTime)
    this.#actions = shown.actions.map(
      (action, index) => new ActionTally(action, index, saved?.actions[index]),
    )
    if (active && draft) this.#actionDifference = new ActionDifference(saved?.actionDifference ?? undefined)
    this.#clauses = new ClauseTally(shown.conditions, saved?.clauses)
    this.#fields = new FieldTally(shown, saved?.fields)
    this.#moves = new MoveTally(saved?.moves)
    const { added = [], removed = [], nearMisses = [] } = saved?.examples ?? {}
    this.#examples = { added: [...added], removed: [...removed], nearMisses: [...nearMisses] }
    this.#ticksFrom = saved?.ticksFrom
  }

  /** The event types that it needs to see. */
  get types(): string[] {
    return this.#evaluator.types
  }

  /** Counts an event of the range that cannot be evaluated, because a value was erased from it. */
  passErased(): void {
    if (this.warmUp === undefined) this.#counts.passErased()
  }

  /** Counts events that were passed, whether they were added or not. */
  pass(events: number): void {
    this.#counts.pass(events)
  }

  /** What is to be added before the range (epoch ms, and the last id that was added); undefined: nothing more. */
  get warmUp(): KeyTurns['warmUp'] {
    return this.#turns?.warmUp
  }

  /** @param end the last id that was added; undefined: all were */
  passWarmUp(end: string | undefined): void {
    this.#turns?.passWarmUp(end)
  }

  /** Whether it needs to know when the execution of an event has ended. */
  get needsEnds(): boolean {
    const { active, draft } = this.#subject
    return [active?.definition, draft].some((one) => one?.perKey?.whileRunning !== undefined)
  }

  /**
   * Adds an event of the range, in the order of ids.
   *
   * @returns what conditions and groups say. `perKey` changes it once its turn has come
   */
  add(event: TestedEvent): EventVerdicts {
    if (!this.#evaluator.isReachedBy(event)) return { active: null, draft: null }
    const { verdicts, moves } = this.#evaluator.evaluate(event)
    if (this.#isInRange(event)) for (const { ruleId, kind } of moves) this.#moves.add(ruleId, kind)
    if (this.#turns === undefined || !this.#evaluator.asks(event, verdicts)) this.#take(event, verdicts)
    else for (const next of this.#turns.add({ event, verdicts })) this.#ask(next)
    return verdicts
  }

  /** Adds what is held back: no event that comes later was accepted before it. */
  finish(): void {
    for (const next of this.#turns?.drain() ?? []) this.#ask(next)
  }

  /**
   * Adds the next tick that the draft would have had in [from, to), at the moment at which it would have been due, unless its ticks are stored.
   *
   * @returns whether there was one
   */
  addTick(from: number, to: number): boolean {
    const schedule = findOwnSchedule(this.#subject)
    const at = schedule && nextTick(schedule, Math.max(from, this.#ticksFrom ?? from) - 1)
    if (!schedule || !at || at >= to) return false
    const tick = { id: '', type: scheduleType, acceptedAt: at, data: describeTick(schedule, at, 0) }
    this.add({ ...tick, addressedTo: this.#subject.ruleId ?? null, isTick: true, isGenerated: true })
    this.#ticksFrom = at + 1
    return true
  }

  save(): SavedBacktest {
    return {
      counts: this.#counts.save(),
      overTime: this.#overTime.save(),
      actions: this.#actions.map((action) => action.save()),
      actionDifference: this.#actionDifference?.save() ?? null,
      clauses: this.#clauses.save(),
      fields: this.#fields.save(),
      moves: this.#moves.save(),
      examples: this.#examples,
      ...(this.#ticksFrom !== undefined && { ticksFrom: this.#ticksFrom }),
      ...(this.#turns && { keyed: { sides: this.#evaluator.saveKeys(), turns: this.#turns.save() } }),
    }
  }

  /** At most 64 KiB of JSON. */
  report({ isComplete, historyFrom = null, notes = [] }: ReportContext): BacktestReport {
    const { active, draft, from, to } = this.#subject
    const counts = this.#counts
    const { added, removed, nearMisses } = this.#examples
    return fitReport({
      scanned: counts.scanned,
      considered: counts.considered,
      ...(counts.erased > 0 && { erased: counts.erased }),
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      isComplete,
      historyFrom: historyFrom === null ? null : new Date(historyFrom).toISOString(),
      active: active ? { version: active.version, ...counts.report('active') } : null,
      draft: draft ? counts.report('draft') : null,
      difference: active && draft ? counts.difference() : null,
      actionDifference: this.#actionDifference?.list() ?? null,
      moves: this.#moves.list(this.#subject.members ?? []),
      bucketMs: this.#overTime.widthMs,
      overTime: this.#overTime.list(),
      actions: this.#actions.map((action) => action.report()),
      clauses: this.#clauses.list(),
      fields: this.#fields.list(),
      examples: {
        added: added.toReversed(),
        removed: removed.toReversed(),
        nearMisses: nearMisses.toReversed(),
      },
      notKnown: listNotKnown(this.#shown),
      notes: [...notes, ...(this.#turns?.notes(this.#evaluator.forgotten, historyFrom) ?? [])],
    })
  }

  #isInRange(event: TestedEvent): boolean {
    return this.#turns === undefined || this.#turns.isInRange(event)
  }

  #ask({ event, verdicts }: Matched): void {
    this.#counts.addReplaced(this.#evaluator.askKeys(event, verdicts, this.#isInRange(event)))
    this.#take(event, verdicts)
  }

  #take(event: TestedEvent, verdicts: EventVerdicts): void {
    if (!this.#isInRange(event)) return
    const steps = this.#evaluator.listSteps(event, verdicts)
    const evaluation = new Evaluation(event.acceptedAt, this.#limits)
    const isOfIt = this.#subject.draft ? this.#evaluator.isOfDraft(event) : this.#evaluator.isOfActive(event)
    const isShown = event.type === this.#shown.trigger && isOfIt
    const areClausesEvaluated = isShown && this.#clauses.evaluate(event.data, evaluation)
    this.#count(event, verdicts)
    if (isShown) this.#examine(event, verdicts, steps, areClausesEvaluated)
    this.#actionDifference?.add(listDone(steps.active), listDone(steps.draft))
  }

  #count(event: TestedEvent, verdicts: EventVerdicts): void {
    const { active, draft } = verdicts
    const [isActive, isDraft] = [active === 'matched', draft === 'matched']
    this.#counts.add(verdicts)
    this.#overTime.add(event.acceptedAt, isActive, isDraft)
    if (active === null || draft === null || isActive === isDraft || event.isGenerated) return
    this.#addExample(isDraft ? 'added' : 'removed', event.id)
  }

  /** What the shown rule would have done for an event of its trigger. */
  #examine(
    { id, data, isGenerated }: TestedEvent,
    verdicts: EventVerdicts,
    steps: Record<Side, TestedStep[]>,
    areClausesEvaluated: boolean,
  ): void {
    const verdict = verdicts.draft ?? verdicts.active
    this.#fields.add(data)
    // What was not evaluated has no verdict to count.
    const isEvaluated = areClausesEvaluated && verdict !== 'not_judged'
    const isNearMiss = isEvaluated && this.#clauses.count(verdict !== 'not_matched')
    if (isNearMiss && verdict === 'not_matched' && !isGenerated) this.#addExample('nearMisses', id)
    const shown = this.#subject.draft === undefined ? steps.active : steps.draft
    for (const step of shown) this.#actions[step.planned.of.index]?.add(step)
  }

  #addExample(kind: ExampleKind, id: string): void {
    const examples = this.#examples[kind]
    examples.push(id)
    if (examples.length > maxExamples) examples.shift()
  }
}
