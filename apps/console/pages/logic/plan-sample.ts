import {
  aloneIn,
  type CompiledRule,
  collectData,
  compileRule,
  Evaluation,
  expiredChoice,
  listChoices,
  type PlannedAction as Planned,
  planActions,
  planBranch,
  WorkBudget,
} from '@automation/engine'
import type { Sample } from './evaluate-definition.js'
import type { SampleBatch } from './list-sample-batches.js'
import type { Definition } from './rule-definition.js'

export interface PlannedAction {
  /** Its place in the rule. */
  index: number
  type: string
  config: unknown
  fault: string | undefined
  /** Its own condition does not hold. */
  isSkipped: boolean
  warnings: readonly string[]
}

/** What follows some choices of a decision. */
export interface PlannedBranch {
  choices: string[]
  /** Nobody decides in time, be it one of the choices or the only one. */
  isExpired: boolean
  /** Those that are done. */
  actions: PlannedAction[]
}

export interface Plan {
  /** All of them, or those up to a decision. */
  actions: PlannedAction[]
  branches: PlannedBranch[]
  /** Choices that there is no branch for. */
  leftOut: number
}

/** So many branches are read; and so long (ms) they may hold the page. */
const mostBranches = 6
const maxBranchesMs = 200

/**
 * What the actions would be for one sample, or for a batch of samples: their texts filled in. Nobody knows what its calls will capture, so those
 * placeholders stay, or what somebody will decide, so each choice has a branch.
 *
 * @param now epoch ms
 * @returns undefined where a part has a fault
 */
export function planSample(
  definition: Definition,
  sample: Pick<Sample, 'data'>,
  batch: SampleBatch | undefined,
  now: number,
): Plan | undefined {
  try {
    const { actions, perKey } = definition
    // Only a batch has something for its actions to read.
    const rule = compileRule({
      conditions: [],
      actions,
      perKey: perKey?.collect ? perKey : null,
    } as never)
    const at = batch?.endsAt ?? now
    const data = batch
      ? collectData(batch.samples.map((one) => one.data) as [object, ...object[]])
      : aloneIn(rule, sample.data)
    const names = rule.actions.flatMap(({ captures }) => captures)
    const captured = Object.fromEntries(names.map((name) => [name, `{{captured.${name}}}`]))
    const { actions: planned } = planActions(rule, data, at, new Evaluation(at), [], { captured })
    const { branches, leftOut } = listBranches(rule, planned, { data, now: at, given: { captured } })
    const shown =
      branches.length + leftOut > 0 ? planned.slice(0, (rule.declared.decisions[0] ?? 0) + 1) : planned
    return { actions: shown.map(present), branches, leftOut }
  } catch {
    return undefined
  }
}

/** Choices after which the same is done share a branch. */
function listBranches(
  rule: CompiledRule,
  planned: readonly Planned[],
  situation: Omit<Parameters<typeof planBranch>[2], 'budget'>,
) {
  const budget = new WorkBudget({ units: Number.POSITIVE_INFINITY, ms: maxBranchesMs }, () =>
    performance.now(),
  )
  const branches = new Map<string, PlannedBranch>()
  const choices = listChoices(rule, planned, situation.given)
  let leftOut = 0
  for (const [place, choice] of choices.entries()) {
    const { actions } = planBranch(rule, choice, { ...situation, budget })
    if (budget.isOver) {
      leftOut += choices.length - place
      break
    }
    const done = actions.map(present).filter(({ isSkipped }) => !isSkipped)
    const key = JSON.stringify(done)
    const known = branches.get(key)
    const isExpired = choice === expiredChoice
    if (known === undefined && branches.size === mostBranches) leftOut++
    else if (known === undefined)
      branches.set(key, { choices: isExpired ? [] : [choice], isExpired, actions: done })
    else if (isExpired) known.isExpired = true
    else known.choices.push(choice)
  }
  return { branches: [...branches.values()], leftOut }
}

function present(action: Planned): PlannedAction {
  return {
    index: action.of.index,
    type: action.of.type,
    config: 'config' in action ? action.config : undefined,
    fault: 'fault' in action ? action.fault : undefined,
    isSkipped: 'skipped' in action,
    warnings: action.warnings,
  }
}
