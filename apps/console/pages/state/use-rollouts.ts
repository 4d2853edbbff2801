import type { RuleRollout } from '@automation/client'
import { api } from './session.js'
import { useQuery } from './use-query.js'

/** The rules that have a draft or a guard. A guard may trip while somebody looks. @param ruleId only this one @param isRead false: only what others read is shown */
export function useRollouts(ruleId?: string, isRead = true) {
  return useQuery<RuleRollout[]>({
    key: ['rollouts', ...(ruleId === undefined ? [] : [ruleId])],
    read: () =>
      api()
        .rules.rollouts(ruleId === undefined ? { limit: 1_000 } : { ruleId })
        .all(),
    isRead,
    pollMs: 30_000,
  })
}
