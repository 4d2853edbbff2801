import {
  type CompiledRule,
  compileRule,
  Judging,
  planActions,
  type RuleDefinition,
  ruleHolds,
  type WorkLimits,
} from '@automation/engine'
import { ActionTally, type SavedAction } from './action-tally.js'
import { ClauseTally } from './clause-tally.js'
import { FieldTally, type SavedFields } from './field-tally.js'
import { fitReport } from './fit-report.js'
import { OverTime, type SavedBuckets } from './over-time.js'
import type { BacktestReport } from './report.js'

export interface TestedDefinition extends RuleDefinition {
  trigger: string
}

/** What is compared over which range; at least one of `active` and `draft`. */
export interface BacktestSubject {
  /** Events that are addressed to it reach it, too. */
  ruleId?: string
  active?: { version: number; definition: TestedDefinition }
  draft?: TestedDefinition
  /** Epoch ms. */
  from: number
  /** Epoch ms, not included. */
  to: number
}

export interface TestedEvent {
  id: string
  type: string
  /** Epoch ms: the moment of judging. */
  acceptedAt: number
  /** The rule that the event is addressed to; null: all active rules of its type. */
  addressedTo: string | null
  data: unknown
}

export type TestVerdict = 'matched' | 'not_matched' | 'not_judged'

/** Of one event; null where there was nothing to judge. */
export interface EventVerdicts {
  active: TestVerdict | null
  draft: TestVerdict | null
}

interface Counts {
  scanned: number
  considered: number
  active: number
  activeNotJudged: number
  draft: number
  draftNotJudged: number
  same: number
}

/** The state of a Backtest as JSON, some 10 KB to 1 MB. Restored from it, a backtest goes on as if it had not stopped. */
export interface SavedBacktest {
  counts: Counts
  overTime: SavedBuckets
  actions: SavedAction[]
  clauses: [held: number, aloneFailed: number][]
  fields: SavedFields
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
 * Computes what rules would have done for past events, doing nothing: the engine judges each event at its acceptance, as a worker does.
 * A function of its arguments: neither clock nor chance, and its memory is bounded for any number of events.
 *
 *   new Backtest(subject) ─▶ add(event) … ─▶ save() ┄▶ new Backtest(subject, saved) ─▶ add(event) … ─▶ report()
 *
 * Actions, clauses and fields are those of the draft, or of the active version where there is no draft.
 */
export class Backtest {
  readonly #subject: BacktestSubject
  readonly #limits: WorkLimits | undefined
  readonly #active: CompiledRule | undefined
  readonly #draft: CompiledRule | undefined
  readonly #shown: TestedDefinition
  readonly #counts: Counts
  readonly #overTime: OverTime
  readonly #actions: ActionTally[]
  readonly #clauses: ClauseTally
  readonly #fields: FieldTally
  readonly #examples: Record<ExampleKind, string[]>

  /** @throws where a definition does not compile */
  constructor(subject: BacktestSubject, saved?: SavedBacktest, limits?: WorkLimits) {
    const { active, draft, from, to } = subject
    const shown = draft ?? active?.definition
    if (shown === undefined) throw new Error('A backtest needs a rule or a definition')
    this.#subject = subject
    this.#limits = limits
    this.#active = active && compileRule(active.definition)
    this.#draft = draft && compileRule(draft)
    this.#shown = shown
    this.#counts = { ...(saved?.counts ?? noCounts) }
    this.#overTime = new OverTime(from, to, saved?.overTime)
    this.#actions = shown.actions.map(
      (action, index) => new ActionTally(action, index, saved?.actions[index]),
    )
    this.#clauses = new ClauseTally(shown.conditions, saved?.clauses)
    this.#fields = new FieldTally(shown, saved?.fields)
    const { added = [], removed = [], nearMisses = [] } = saved?.examples ?? {}
    this.#examples = { added: [...added], removed: [...removed], nearMisses: [...nearMisses] }
  }

  /** The event types that it needs to see. */
  get types(): string[] {
    const { active, draft } = this.#subject
    return [...new Set([active?.definition.trigger, draft?.trigger].filter((type) => type !== undefined))]
  }

  /** Counts events that were passed, whether they were added or not. */
  pass(events: number): void {
    this.#counts.scanned += events
  }

  /** Adds an event of the range, in the order of ids. */
  add(event: TestedEvent): EventVerdicts {
    const { active, draft, ruleId } = this.#subject
    const isReached = event.addressedTo === null || event.addressedTo === ruleId
    if (!isReached || !this.types.includes(event.type)) return { active: null, draft: null }
    const verdicts = {
      active: this.#active && judge(this.#active, active?.definition.trigger, event, this.#limits),
      draft: this.#draft && judge(this.#draft, draft?.trigger, event, this.#limits),
    }
    this.#count(event, verdicts.active ?? null, verdicts.draft ?? null)
    if (event.type === this.#shown.trigger) this.#examine(event, verdicts.draft ?? verdicts.active)
    return { active: verdicts.active ?? null, draft: verdicts.draft ?? null }
  }

  save(): SavedBacktest {
    return {
      counts: this.#counts,
      overTime: this.#overTime.save(),
      actions: this.#actions.map((action) => action.save()),
      clauses: this.#clauses.save(),
      fields: this.#fields.save(),
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
        ? { version: active.version, matched: counts.active, notJudged: counts.activeNotJudged }
        : null,
      draft: draft ? { matched: counts.draft, notJudged: counts.draftNotJudged } : null,
      difference:
        active && draft
          ? { same: counts.same, added: counts.draft - counts.same, removed: counts.active - counts.same }
          : null,
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

  #count(event: TestedEvent, active: TestVerdict | null, draft: TestVerdict | null): void {
    const counts = this.#counts
    const isActive = active === 'matched'
    const isDraft = draft === 'matched'
    counts.considered++
    if (isActive) counts.active++
    if (isDraft) counts.draft++
    if (active === 'not_judged') counts.activeNotJudged++
    if (draft === 'not_judged') counts.draftNotJudged++
    if (isActive && isDraft) counts.same++
    this.#overTime.add(event.acceptedAt, isActive, isDraft)
    if (active === null || draft === null || isActive === isDraft) return
    this.#addExample(isDraft ? 'added' : 'removed', event.id)
  }

  /** What the shown rule would have done for an event of its trigger. */
  #examine({ id, data, acceptedAt }: TestedEvent, verdict: TestVerdict | undefined): void {
    this.#fields.add(data)
    const hasMatched = verdict === 'matched'
    const isNearMiss = this.#clauses.add(data, new Judging(acceptedAt, this.#limits), hasMatched)
    if (isNearMiss && verdict === 'not_matched') this.#addExample('nearMisses', id)
    if (!hasMatched) return
    const rule = (this.#draft ?? this.#active) as CompiledRule
    const judging = new Judging(acceptedAt, this.#limits)
    let isStopped = false
    for (const planned of planActions(rule, data, acceptedAt, judging).actions) {
      const { index, continueOnError } = planned.of
      this.#actions[index]?.add(planned, isStopped)
      if ('fault' in planned && !continueOnError) isStopped = true
    }
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
  activeNotJudged: 0,
  draft: 0,
  draftNotJudged: 0,
  same: 0,
}

function judge(
  rule: CompiledRule,
  trigger: string | undefined,
  { type, acceptedAt, data }: TestedEvent,
  limits: WorkLimits | undefined,
): TestVerdict {
  if (type !== trigger) return 'not_matched'
  const judging = new Judging(acceptedAt, limits)
  if (ruleHolds(rule, data, judging)) return 'matched'
  return judging.fault === null ? 'not_matched' : 'not_judged'
}

const calls: readonly string[] = ['SEND_EMAIL', 'SEND_WEBHOOK', 'SEND_NOTIFICATION']

/** A call's response is not in any event, so it is assumed to be a success. */
function listNotKnown({ actions }: RuleDefinition): string[] {
  return actions.flatMap(({ type, continueOnError }, index) =>
    calls.includes(type) && continueOnError !== true && index < actions.length - 1
      ? [`actions[${index}]: whether the call succeeds. A failure would skip the actions after it.`]
      : [],
  )
}
