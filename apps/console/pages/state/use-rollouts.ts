import type { RuleRolloutList } from '@automation/client'
import { api } from './session.js'
import { useQuery } from './use-query.js'

/** The rules that have a draft or a guard. A guard may trip while somebody looks. */
export function useRollouts() {
  return useQuery<RuleRolloutList>({
    key: ['rollouts'],
    read: () => api().rules.rollouts(),
    pollMs: 30_000,
  })
}
