import type { Rule } from '@automation/client'
import { api } from './session.js'
import { useQuery } from './use-query.js'

/** All rules, in one request: what the filters and the palette look for is among them. A large list is read less often. */
export function useRules() {
  return useQuery({ ...all, pollMs: (data) => Math.max(20_000, 60 * (data?.rules.length ?? 0)) })
}

/** The same list for screens that only name rules. @param isWanted false: nothing is read yet */
export function useRuleNames(isWanted = true) {
  const found = useQuery({ ...all, key: isWanted ? all.key : undefined, pollMs: false, staleMs: 60_000 })
  const rules = found.data?.rules ?? none
  return { rules, names: new Map(rules.map(({ id, name }) => [id, name])) }
}

const all = { key: ['rules'], read: (): PromiseLike<{ rules: Rule[] }> => api().rules.list() }
const none: Rule[] = []
