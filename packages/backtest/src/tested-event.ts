/** Epoch ms: when an execution ended, or until when it had not. */
export type Ended = { at: number } | { after: number }

export interface TestedEvent {
  id: string
  type: string
  /** Epoch ms: the moment of evaluation. */
  acceptedAt: number
  /** The rule that the event is addressed to; null: all active rules of its type. */
  addressedTo: string | null
  /** Whether a schedule made it. Any other event for one rule was requested by hand. */
  isTick?: boolean
  data: unknown
  /** Of its workspace when it was evaluated: it says in which versions the other rules of a group were. */
  rulesVersion?: number | null
  /** A tick that the schedule of the draft would have had. It is for the draft alone. */
  isGenerated?: boolean
  /** Characters of its JSON. Without it, the rules before the tested one are evaluated for each event. */
  size?: number
  /** Of the execution of the rule for it; undefined: there is none. */
  ended?: Ended
}

/** outranked: it matched, and another rule of its group would have run. suppressed: it matched, and its `perKey` would not have granted it. */
export type TestVerdict = 'matched' | 'outranked' | 'suppressed' | 'not_matched' | 'not_judged'

/** Of one event; null where there was nothing to evaluate. */
export interface EventVerdicts {
  active: TestVerdict | null
  draft: TestVerdict | null
}

/** Which definition. */
export type Side = 'active' | 'draft'
export const sides = ['active', 'draft'] as const
