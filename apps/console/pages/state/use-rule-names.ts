import type { Rule } from '@automation/client'
import { api } from './session.js'
import { useQuery } from './use-query.js'

/** The rules of the workspace, read once and shared by the screens. @param isWanted false: nothing is read yet */
export function useRuleNames(isWanted = true) {
  const found = useQuery<{ rules: Rule[] }>({
    key: isWanted ? ['rules', 'names'] : undefined,
    read: () => api().rules.list({ limit: 250 }),
    pollMs: false,
  })
  const rules = found.data?.rules ?? none
  return { rules, names: new Map(rules.map(({ id, name }) => [id, name])) }
}

const none: Rule[] = []
