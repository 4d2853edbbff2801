import type { Grouped, PerKey, RuleDefinition, Schedule } from '@automation/engine'
import type { EarlierRule } from './earlier-rules.js'
import type { GroupMember } from './group-members.js'

export interface TestedDefinition extends RuleDefinition, Partial<Grouped> {
  trigger: string
  schedule?: Schedule | null
  perKey?: PerKey | null
}

/** What is compared over which range; at least one of `active` and `draft`. */
export interface BacktestSubject {
  /** Events that are addressed to it reach it, too. */
  ruleId?: string
  active?: { version: number; definition: TestedDefinition }
  draft?: TestedDefinition
  /** The active rules that a worker evaluates before it, as they were when it was made; undefined: it has them to itself. */
  earlier?: EarlierRule[]
  /** The other rules in the groups of the definitions; undefined: there are too many to be simulated, and a definition is first whenever it matches. */
  members?: GroupMember[]
  /** Epoch ms. */
  from: number
  /** Epoch ms, not included. */
  to: number
}
