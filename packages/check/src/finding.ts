import type { RuleDefinition } from '@automation/engine'

export const severities = ['info', 'warning', 'error'] as const
export type Severity = (typeof severities)[number]

export const codes = {
  never_matches: 'error',
  dead_since: 'error',
  loop: 'error',
  always_true: 'warning',
  implied: 'warning',
  duplicate: 'warning',
  contained: 'warning',
  unreachable_action: 'warning',
  unknown_field: 'warning',
  unseen_value: 'warning',
  unseen_placeholder: 'warning',
  overlap: 'info',
  mixed_kinds: 'info',
} as const satisfies Record<string, Severity>
export type Code = keyof typeof codes

/** A rule to check. Its definition has no faults (findRuleFaults of the engine). */
export interface CheckedRule extends RuleDefinition {
  readonly id?: string
  readonly name: string
  readonly trigger: string
  /** Only active rules are compared with one another. Default: true. */
  readonly isActive?: boolean
}

/** A rule of the set: its index from 0, its id where it is stored, and its name. */
export interface RuleReference {
  index: number
  id: string | null
  name: string
}

/** An event for which the finding is true. */
export interface Witness {
  type: string
  /** The moment at which it is judged. */
  at: string
  data: Record<string, unknown>
}

export interface Finding {
  code: Code
  severity: Severity
  message: string
  rule: RuleReference
  /** Of the clause, group or action in the rule. */
  path: string
  /** The other rules that it is about, with the path in each. */
  others: (RuleReference & { path: string })[]
  witness: Witness | null
}

/** A question that the check could not decide, so that it reports no finding. */
export interface NotKnown {
  rule: RuleReference
  path: string
  code: Code
  reason: string
}

export interface CheckResult {
  findings: Finding[]
  notKnown: NotKnown[]
}

/** Collects what a check finds. */
export class Report {
  readonly findings: Finding[] = []
  readonly notKnown: NotKnown[] = []
  readonly #rules: readonly CheckedRule[]
  readonly #open = new Set<string>()

  constructor(rules: readonly CheckedRule[]) {
    this.#rules = rules
  }

  refer(index: number): RuleReference {
    const { id = null, name = '' } = this.#rules[index] ?? {}
    return { index, id, name }
  }

  find(
    code: Code,
    index: number,
    path: string,
    message: string,
    more: Partial<Pick<Finding, 'others' | 'witness'>> = {},
  ): void {
    this.findings.push({
      code,
      severity: codes[code],
      message,
      rule: this.refer(index),
      path,
      others: [],
      witness: null,
      ...more,
    })
  }

  /** Notes each question once. */
  leaveOpen(code: Code, index: number, path: string, reason: string): void {
    const question = `${code} ${index} ${path}`
    if (this.#open.has(question)) return
    this.#open.add(question)
    this.notKnown.push({ rule: this.refer(index), path, code, reason })
  }
}
