import type { RuleRollout } from '@automation/client'
import { api } from './session.js'
import { useQuery } from './use-query.js'

/** The rules that have a draft or a guard. A guard may trip while somebody looks. @param ruleId only this one */
export function useRollouts(ruleId?: string) {
  return useQuery<RuleRollout[]>({
    key: ['rollouts', ...(ruleId === undefined ? [] : [ruleId])],
    read: () =>
      api()
        .rules.rollouts(ruleId === undefined ? { limit: 1_000 } : { ruleId })
        .all(),
    pollMs: 30_000,
  })
}
