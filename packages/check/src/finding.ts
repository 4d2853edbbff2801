import { type CheckedRule, excerptOf, type WorkBudget } from '@automation/engine'
import { type Code, codes } from './codes.js'
import type { CheckResult, Finding, NotKnown, RuleReference, Witness } from './finding-schemas.js'

export type { CheckResult, Finding, Witness }

/** Collects what a check finds. */
export class CheckFindings {
  readonly findings: Finding[] = []
  readonly notKnown: NotKnown[] = []
  /** Of the check. */
  readonly budget: WorkBudget
  readonly #rules: readonly CheckedRule[]
  readonly #open = new Set<string>()

  constructor(rules: readonly CheckedRule[], budget: WorkBudget) {
    this.#rules = rules
    this.budget = budget
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
    { others = [], witness }: { others?: Finding['others']; witness?: Witness } = {},
  ): void {
    this.findings.push({
      code,
      severity: codes[code],
      message,
      rule: this.refer(index),
      path,
      others,
      witness: witness === undefined ? null : shorten(witness),
    })
  }

  /** Notes each question once. Where the budget is over, that is the reason. */
  leaveOpen(code: Code, index: number, path: string, reason: string): void {
    const question = `${code} ${index} ${path}`
    if (this.#open.has(question)) return
    this.#open.add(question)
    this.notKnown.push({ rule: this.refer(index), path, code, reason: this.budget.fault ?? reason })
  }
}

/** A thousand findings may have the same long text. */
function shorten({ data, ...event }: Witness): Witness {
  const fields = Object.entries(data).map(([name, value]) => [name, excerptOf(value)])
  return { ...event, data: Object.fromEntries(fields) }
}
