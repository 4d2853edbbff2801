import {
  type Action,
  type ActionConfig,
  type ActionType,
  cutText,
  isReady,
  type ReadyAction,
  wholeCredential,
} from '@automation/engine'
import { BusiestMinute, type SavedMinutes } from './busiest-minute.js'
import type { TestedStep } from './event-evaluator.js'
import type { ActionReport } from './report.js'
import { type SavedTargets, Targets } from './targets.js'

const maxMessages = 5
const maxMessageLength = 120

export interface SavedAction {
  done: number
  skipped: number
  faulty: number
  notKnown: number
  faults: [message: string, count: number][]
  warnings: [message: string, count: number][]
  targets: SavedTargets
  minutes: SavedMinutes
}

/** Counts what one action of a rule would have done, and to how many. */
export class ActionTally {
  readonly #index: number
  readonly #type: Action['type']
  readonly #counts: { done: number; skipped: number; faulty: number; notKnown: number }
  readonly #faults: Map<string, number>
  readonly #warnings: Map<string, number>
  readonly #targets: Targets
  readonly #minutes: BusiestMinute

  constructor({ type }: Action, index: number, saved?: SavedAction) {
    this.#index = index
    this.#type = type
    const { done = 0, skipped = 0, faulty = 0, notKnown = 0 } = saved ?? {}
    this.#counts = { done, skipped, faulty, notKnown }
    this.#faults = new Map(saved?.faults)
    this.#warnings = new Map(saved?.warnings)
    this.#targets = new Targets(saved?.targets)
    this.#minutes = new BusiestMinute(saved?.minutes)
  }

  add({ planned, isStopped, isKnown }: TestedStep): void {
    if (!isKnown) {
      this.#counts.notKnown++
      return
    }
    if (isStopped || 'skipped' in planned) {
      this.#counts.skipped++
      return
    }
    for (const warning of planned.warnings) countMessage(this.#warnings, warning)
    if (!isReady(planned)) {
      this.#counts.faulty++
      countMessage(this.#faults, planned.fault)
      return
    }
    const times = timesOf(planned)
    this.#counts.done += times
    if (times === 0) return
    this.#minutes.add(planned.at, times)
    for (const target of listTargets(planned)) this.#targets.add(target)
  }

  report(): ActionReport {
    return {
      index: this.#index,
      type: this.#type,
      ...this.#counts,
      faults: listMessages(this.#faults),
      warnings: listMessages(this.#warnings),
      targets: this.#targets.count(),
      isTargetsEstimated: !this.#targets.isExact,
      mostToOne: this.#targets.most(),
      busiestMinute: this.#minutes.find(),
    }
  }

  save(): SavedAction {
    return {
      ...this.#counts,
      faults: [...this.#faults],
      warnings: [...this.#warnings],
      targets: this.#targets.save(),
      minutes: this.#minutes.save(),
    }
  }
}

/** An action with forEach counts as many times as it emits an event. */
export function timesOf({ events }: ReadyAction): number {
  return events?.length ?? 1
}

type TargetsOf = { [Type in ActionType]: (config: ActionConfig<Type>) => string[] }

/** Whom an action reaches: addresses of mail, hosts of calls, assignees of tasks, types of events. */
const targetsOf: TargetsOf = {
  SEND_EMAIL({ to, cc, bcc }) {
    const addresses = [to, cc, bcc].flatMap((one = []) => one).map((one) => one.trim().toLowerCase())
    return addresses.length === 1 ? addresses : [...new Set(addresses)]
  },
  SEND_WEBHOOK: ({ url }) => [hostOf(url)],
  SEND_NOTIFICATION: ({ url }) => [hostOf(url)],
  CREATE_TASK: ({ assigneeId }) => (assigneeId === undefined ? [] : [assigneeId]),
  EMIT_EVENT: ({ eventType }) => [eventType],
  WAIT: () => [],
}

/** A URL that is a credential is known to a worker alone. */
function hostOf(url: string): string {
  return wholeCredential(url) === undefined ? new URL(url).host : url
}

export function listTargets({ type, config }: ReadyAction): string[] {
  return (targetsOf[type] as (config: ReadyAction['config']) => string[])(config)
}

/** Beyond some, messages are counted together. */
function countMessage(counts: Map<string, number>, message: string): void {
  const cut = cutText(message, maxMessageLength)
  const key = counts.has(cut) || counts.size < maxMessages ? cut : 'others'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function listMessages(counts: Map<string, number>): { message: string; count: number }[] {
  return [...counts]
    .map(([message, count]) => ({ message, count }))
    .sort((left, right) => right.count - left.count)
}
