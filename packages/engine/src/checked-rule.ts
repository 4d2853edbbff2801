import type { PerKey } from './per-key/per-key.js'
import type { Grouped } from './planning/first-match.js'
import type { RuleDefinition } from './rule.js'
import type { Schedule } from './schedule/schedule.js'

/** A rule to check or to test. Its definition has no faults (findRuleFaults). */
export interface CheckedRule extends RuleDefinition, Partial<Grouped> {
  readonly id?: string
  readonly name: string
  readonly trigger: string
  readonly perKey?: PerKey | null
  readonly schedule?: Schedule | null
  /** Only active rules run, and are compared with one another. Default: true. */
  readonly isActive?: boolean
}
