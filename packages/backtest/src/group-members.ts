import {
  type CompiledRule,
  compileRule,
  Evaluation,
  findOutranked,
  type Grouped,
  type RuleDefinition,
  ruleHolds,
  type WorkLimits,
} from '@automation/engine'

/** A version of another rule in a group of the tested rule, for the events for which it was the active one. */
export interface GroupMember extends Grouped {
  ruleId: string
  name: string
  trigger: string
  conditions: RuleDefinition['conditions']
  /** `rulesVersion` of its workspace. */
  from: number
  /** Not included; null: it still is. */
  until: number | null
}

interface EventInGroup {
  type: string
  /** Epoch ms. */
  acceptedAt: number
  data: unknown
  /** At which it was evaluated; null or undefined: it was not. */
  rulesVersion?: number | null
}

type Compiled = GroupMember & { compiled: CompiledRule | undefined }

/** The place of a tested definition that matched, or could not be evaluated. */
export interface Contender extends Grouped {
  ruleId: string
}

/** Rules are evaluated for an event as members of a group: each by itself, in the version of that time. */
export class GroupMembers {
  readonly #members: readonly Compiled[]
  readonly #limits: WorkLimits

  constructor(members: readonly GroupMember[], limits: WorkLimits) {
    this.#members = members.map((member) => ({ ...member, compiled: compile(member) }))
    this.#limits = limits
  }

  /** The other rules of the group that matched the event, or could not be evaluated. */
  listMatching(group: string, event: EventInGroup): Contender[] {
    return this.#members.filter(
      (member) => member.group === group && member.trigger === event.type && this.#takesPart(member, event),
    )
  }

  #takesPart({ from, until, compiled }: Compiled, event: EventInGroup): boolean {
    const { rulesVersion: version = null } = event
    const isOver = until !== null && (version === null || until <= version)
    if (isOver || (version !== null && version < from)) return false
    if (compiled === undefined) return true
    const evaluation = new Evaluation(event.acceptedAt, this.#limits)
    return ruleHolds(compiled, event.data, evaluation) || evaluation.fault !== null
  }
}

/** The rule of a group that runs; undefined where none matched. */
export function findFirst(contenders: readonly Contender[]): string | undefined {
  const rules = contenders.toSorted((one, other) => (one.ruleId < other.ruleId ? -1 : 1))
  const outranked = findOutranked(
    rules,
    rules.map((_, index) => index),
  )
  return rules.find((_, index) => !outranked.has(index))?.ruleId
}

/** One that does not compile any more takes its place as if it had matched. */
function compile({ conditions }: GroupMember): CompiledRule | undefined {
  try {
    return compileRule({ conditions, actions: [] })
  } catch {
    return undefined
  }
}
