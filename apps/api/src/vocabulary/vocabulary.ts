import { describeVocabulary, type Limit, type Vocabulary, type WorkLimits } from '@automation/engine'
import { maxDefinitionBytes, maxDepth, maxNodes, maxRuleBytes, maxRules } from '@automation/rules'

export const maxBatchEvents = 500

export interface VocabularyOptions {
  workLimits: WorkLimits
  bodyLimitBytes: number
}

/** It is true of one release: another Node may know other time zones. */
export interface ServiceVocabulary extends Vocabulary {
  zoneData: string
}

/** The rule language, with the limits of the engine and those of the API. */
export function listVocabulary({ workLimits, bodyLimitBytes }: VocabularyOptions): ServiceVocabulary {
  const vocabulary = describeVocabulary(workLimits)
  const zoneData = process.versions.tz ?? 'unknown'
  return { ...vocabulary, zoneData, limits: [...vocabulary.limits, ...limitsOfApi(bodyLimitBytes)] }
}

function limitsOfApi(bodyLimitBytes: number): Limit[] {
  return [
    { name: 'rule', value: maxRuleBytes, unit: 'bytes', description: 'The body of one rule' },
    { name: 'rules', value: maxRules, unit: 'rules', description: 'In one workspace' },
    {
      name: 'definitions',
      value: maxDefinitionBytes,
      unit: 'bytes',
      description: 'All rules of a workspace together',
    },
    {
      name: 'event',
      value: bodyLimitBytes,
      unit: 'bytes',
      description: 'The body of a request, such as an event or a batch',
    },
    {
      name: 'values',
      value: maxNodes,
      unit: 'values',
      description: 'In the body of a request, at any depth',
    },
    {
      name: 'depth',
      value: maxDepth,
      unit: 'levels',
      description: 'Objects and lists within each other, in a body',
    },
    { name: 'batch', value: maxBatchEvents, unit: 'events', description: 'In one batch' },
  ]
}
