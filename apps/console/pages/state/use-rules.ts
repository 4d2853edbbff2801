import type { Rule, RuleSummary } from '@automation/client'
import { useEffect } from 'preact/hooks'
import { api } from './session.js'
import { useQuery } from './use-query.js'

/** A workspace has at most so many rules, so one request reads all of them: what the filters and the palette look for is among them. */
const maxRules = 1_000
const summaries = {
  key: ['rules'],
  read: (): PromiseLike<{ rules: RuleSummary[] }> => api().rules.summaries({ limit: maxRules }),
}
const none: readonly string[] = []

export function useRules() {
  return useQuery({ ...summaries, pollMs: 20_000 })
}

/**
 * Names rules, and reads again where a name is missing: the rule may be new.
 *
 * @param wanted ids that the screen shows
 */
export function useRuleNames(wanted: readonly string[] = none) {
  const found = useQuery({ ...summaries, pollMs: false })
  const rules = found.data?.rules ?? []
  const names = new Map(rules.map(({ id, name }) => [id, name]))
  const missing = found.data ? wanted.filter((id) => !names.has(id) && !looked.has(id)) : none
  useEffect(() => {
    if (missing.length === 0) return
    for (const id of missing) looked.add(id)
    void found.refetch()
  }, [missing.join()])
  return {
    rules,
    nameOf: (id: string) => names.get(id) ?? (found.data && looked.has(id) ? 'a deleted rule' : 'a rule'),
  }
}

/** What was looked for a second time. */
const looked = new Set<string>()

/** The definitions of all rules. @param isWanted false: nothing is read yet */
export function useDefinitions(isWanted: boolean): readonly Rule[] {
  const found = useQuery<{ rules: Rule[] }>({
    key: isWanted ? ['rules', 'definitions'] : undefined,
    read: () => api().rules.list(),
    pollMs: false,
  })
  return found.data?.rules ?? noRules
}

const noRules: readonly Rule[] = []
