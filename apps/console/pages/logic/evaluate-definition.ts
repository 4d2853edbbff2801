import type { ConditionTrace } from '@automation/client'
import { compileRule, explainRule } from '@automation/engine'
import { type DefinitionFault, findConditionFaults } from './editing/find-condition-faults.js'
import { findRival, type Rival } from './rivals.js'
import type { Definition } from './rule-definition.js'

export interface Sample {
  id: string
  data: object
  acceptedAt: string | null
}

export interface SampleVerdict {
  sample: Sample
  matches: boolean
  /** The rule of its group that comes first and runs instead, although this one matches. */
  rival?: string
  conditions: ConditionTrace[]
}

export interface Evaluation {
  verdicts: SampleVerdict[]
  /** How many of the samples each top-level condition lets through. */
  passedBy: number[]
  /** Of the conditions. While there is one, there is no result: the service would refuse the rule. */
  faults: DefinitionFault[]
  /** Why nothing could be evaluated, other than for these faults. */
  problem: string | undefined
}

/**
 * Evaluates samples with the engine itself, as a worker would at this moment: so what the editor shows is what will happen.
 *
 * @param now epoch ms
 * @param rivals the rules that come before it in its group
 */
export function evaluateDefinition(
  definition: Definition,
  samples: readonly Sample[],
  now: number,
  rivals: readonly Rival[] = [],
): Evaluation {
  const { conditions } = definition
  const faults = findConditionFaults(definition)
  if (faults.length > 0) return { verdicts: [], passedBy: [], faults, problem: undefined }
  try {
    // The actions may be unfinished while the conditions are typed.
    const rule = compileRule({ conditions, actions: [] } as never)
    const verdicts = samples.map((sample) => {
      const trace = explainRule(rule, sample.data, now)
      const matches = trace.conditionsPassed
      const rival = matches ? findRival(rivals, sample.data, now) : undefined
      return {
        sample,
        matches,
        ...(rival && { rival: rival.name }),
        conditions: trace.conditions as unknown as ConditionTrace[],
      }
    })
    const passedBy = conditions.map(
      (_, index) => verdicts.filter((verdict) => verdict.conditions[index]?.verdict).length,
    )
    return { verdicts, passedBy, faults, problem: undefined }
  } catch (error) {
    return { verdicts: [], passedBy: [], faults, problem: (error as Error).message }
  }
}
