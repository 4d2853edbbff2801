import type { RuleRollout } from '@automation/client'
import { api } from './session.js'
import { useIdle } from './use-counts.js'
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

/** Of one rule: as the list of rules has read it, or once the screen is drawn. */
export function useRollout(ruleId: string): RuleRollout | undefined {
  const isIdle = useIdle()
  const listed = useRollouts(undefined, false).data
  const { data = listed } = useRollouts(ruleId, isIdle && ruleId !== 'new')
  return data?.find(({ id }) => id === ruleId)
}
