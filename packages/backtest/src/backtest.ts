import {
  defaultWorkLimits,
  describeTick,
  Evaluation,
  findRecordedReads,
  isCallType,
  type RuleDefinition,
  readDeclared,
  scheduleType,
  type WorkLimits,
} from '@automation/engine'
import { ActionDifference, type SavedActionDifference } from './action-difference.js'
import { ActionTally, type SavedAction } from './action-tally.js'
import type { BacktestSubject, TestedDefinition } from './backtest-subject.js'
import { ClauseTally } from './clause-tally.js'
import {
  type Evaluated,
  EventEvaluator,
  type EventVerdicts,
  listDone,
  type TestedEvent,
} from './event-evaluator.js'
import { FieldTally, type SavedFields } from './field-tally.js'
import { fitReport } from './fit-report.js'
import { MoveTally, type SavedMoves } from './move-tally.js'
import { OverTime, type SavedBuckets } from './over-time.js'
import { findOwnSchedule, listTicks } from './own-ticks.js'
import type { BacktestReport } from './report.js'

interface Counts {
  scanned: number
  considered: number
  active: number
  activeOutranked: number
  activeNotEvaluated: number
  draft: number
  draftOutranked: number
  draftNotEvaluated: number
  same: number
}

/** The state of a Backtest as JSON, some 10 KB to 1 MB. Restored from it, a backtest goes on as if it had not stopped. */
export interface SavedBacktest {
  counts: Counts
  overTime: SavedBuckets
  actions: SavedAction[]
  /** null if nothing is compared. */
  actionDifference: SavedActionDifference | null
  clauses: [held: number, aloneFailed: number][]
  fields: SavedFields
  moves: SavedMoves
  examples: Record<ExampleKind, string[]>
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
 *   new Backtest(subject) ─▶ add(event) … ─▶ save() ┄▶ new Backtest(subject, saved) ─▶ add(event) … ─▶ report()
 *
 * Actions, clauses and fields are those of the draft, or of the active version where there is no draft.
 */
export class Backtest {
  readonly #subject: BacktestSubject
  readonly #limits: WorkLimits
  readonly #evaluator: EventEvaluator
  readonly #shown: TestedDefinition
  readonly #counts: Counts
  readonly #overTime: OverTime
  readonly #actions: ActionTally[]
  readonly #actionDifference: ActionDifference | undefined
  readonly #clauses: ClauseTally
  readonly #fields: FieldTally
  readonly #moves: MoveTally
  readonly #examples: Record<ExampleKind, string[]>

  /** @throws where a definition does not compile */
  constructor(subject: BacktestSubject, saved?: SavedBacktest, limits: WorkLimits = defaultWorkLimits) {
    const { active, draft, from, to } = subject
    const shown = draft ?? active?.definition
    if (shown === undefined) throw new Error('A backtest needs a rule or a definition')
    this.#subject = subject
    this.#limits = limits
    this.#evaluator = new EventEvaluator(subject, limits)
    this.#shown = shown
    this.#counts = { ...(saved?.counts ?? noCounts) }
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
  }

  /** The event types that it needs to see. */
  get types(): string[] {
    return this.#evaluator.types
  }

  /** Counts events that were passed, whether they were added or not. */
  pass(events: number): void {
    this.#counts.scanned += events
  }

  /** Adds an event of the range, in the order of ids. */
  add(event: TestedEvent): EventVerdicts {
    if (!this.#evaluator.isReachedBy(event)) return { active: null, draft: null }
    const evaluated = this.#evaluator.evaluate(event)
    const evaluation = new Evaluation(event.acceptedAt, this.#limits)
    const isOfIt = this.#subject.draft ? this.#evaluator.isOfDraft(event) : this.#evaluator.isOfActive(event)
    const isShown = event.type === this.#shown.trigger && isOfIt
    const areClausesEvaluated = isShown && this.#clauses.evaluate(event.data, evaluation)
    this.#count(event, evaluated.verdicts)
    for (const { ruleId, kind } of evaluated.moves) this.#moves.add(ruleId, kind)
    if (isShown) this.#examine(event, evaluated, areClausesEvaluated)
    this.#actionDifference?.add(listDone(evaluated.steps.active), listDone(evaluated.steps.draft))
    return evaluated.verdicts
  }

  /** Adds the ticks that the draft would have had in [from, to), each at the moment at which it would have been due, unless those are stored. */
  addTicks(from: number, to: number): void {
    const schedule = findOwnSchedule(this.#subject)
    if (schedule === undefined) return
    const addressedTo = this.#subject.ruleId ?? null
    for (const acceptedAt of listTicks(schedule, from, to)) {
      const data = describeTick(schedule, acceptedAt, 0)
      this.add({ id: '', type: scheduleType, acceptedAt, addressedTo, data, isGenerated: true })
    }
  }

  save(): SavedBacktest {
    return {
      counts: this.#counts,
      overTime: this.#overTime.save(),
      actions: this.#actions.map((action) => action.save()),
      actionDifference: this.#actionDifference?.save() ?? null,
      clauses: this.#clauses.save(),
      fields: this.#fields.save(),
      moves: this.#moves.save(),
      examples: this.#examples,
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
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      isComplete,
      historyFrom: historyFrom === null ? null : new Date(historyFrom).toISOString(),
      active: active
        ? {
            version: active.version,
            matched: counts.active,
            outranked: counts.activeOutranked,
            notJudged: counts.activeNotEvaluated,
          }
        : null,
      draft: draft
        ? { matched: counts.draft, outranked: counts.draftOutranked, notJudged: counts.draftNotEvaluated }
        : null,
      difference:
        active && draft
          ? { same: counts.same, added: counts.draft - counts.same, removed: counts.active - counts.same }
          : null,
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
      notes,
    })
  }

  #count(event: TestedEvent, { active, draft }: EventVerdicts): void {
    const counts = this.#counts
    const isActive = active === 'matched'
    const isDraft = draft === 'matched'
    counts.considered++
    if (isActive) counts.active++
    if (isDraft) counts.draft++
    if (active === 'outranked') counts.activeOutranked++
    if (draft === 'outranked') counts.draftOutranked++
    if (active === 'not_judged') counts.activeNotEvaluated++
    if (draft === 'not_judged') counts.draftNotEvaluated++
    if (isActive && isDraft) counts.same++
    this.#overTime.add(event.acceptedAt, isActive, isDraft)
    if (active === null || draft === null || isActive === isDraft || event.isGenerated) return
    this.#addExample(isDraft ? 'added' : 'removed', event.id)
  }

  /** What the shown rule would have done for an event of its trigger. */
  #examine(
    { id, data, isGenerated }: TestedEvent,
    { verdicts, steps }: Evaluated,
    areClausesEvaluated: boolean,
  ): void {
    const verdict = verdicts.draft ?? verdicts.active
    this.#fields.add(data)
    // What was not evaluated has no verdict to count.
    const isEvaluated = areClausesEvaluated && verdict !== 'not_judged'
    const isNearMiss = isEvaluated && this.#clauses.count(verdict === 'matched' || verdict === 'outranked')
    if (isNearMiss && verdict === 'not_matched' && !isGenerated) this.#addExample('nearMisses', id)
    const shown = this.#subject.draft === undefined ? steps.active : steps.draft
    for (const { planned, isStopped } of shown) this.#actions[planned.of.index]?.add(planned, isStopped)
  }

  #addExample(kind: ExampleKind, id: string): void {
    const examples = this.#examples[kind]
    examples.push(id)
    if (examples.length > maxExamples) examples.shift()
  }
}

const noCounts: Counts = {
  scanned: 0,
  considered: 0,
  active: 0,
  activeOutranked: 0,
  activeNotEvaluated: 0,
  draft: 0,
  draftOutranked: 0,
  draftNotEvaluated: 0,
  same: 0,
}

/** A call's response is not in any event, so it is assumed to be a success, and what depends on it more closely is not counted. */
function listNotKnown({ actions }: RuleDefinition): string[] {
  const declared = readDeclared(actions)
  return actions.flatMap((action, index) => {
    const { type, continueOnError } = action
    const stops = isCallType(type) && continueOnError !== true && index < actions.length - 1
    const waits = type === 'WAIT' && action.config.for !== undefined && index < actions.length - 1
    const asks = type === 'WAIT' && action.config.decision !== undefined && index < actions.length - 1
    return [
      ...(asks ? [`actions[${index}]: what a person decides, and when. What follows is not counted.`] : []),
      ...(waits
        ? [`actions[${index}]: whether an event ends it, and when. What follows is not counted.`]
        : []),
      ...(findRecordedReads(action, index, declared).readsRecorded
        ? [`actions[${index}]: what it does. It reads the result of an earlier action.`]
        : []),
      ...(stops
        ? [`actions[${index}]: whether the call succeeds. A failure would skip the actions after it.`]
        : []),
    ]
  })
}
