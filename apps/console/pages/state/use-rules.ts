import type { Rule, RuleSummary } from '@automation/client'
import { useEffect } from 'preact/hooks'
import { timeOfId } from '../logic/format-time.js'
import { api, may } from './session.js'
import { useQuery } from './use-query.js'

/** A workspace has at most so many rules, so one request reads all of them: what the filters and the palette look for is among them. */
const maxRules = 1_000
const summaries = {
  key: ['rules'],
  read: (): PromiseLike<{ rules: RuleSummary[] }> => api().rules.summaries({ limit: maxRules }),
}
/** What another screen has read names rules for so long. */
const namesStaleMs = 60_000

/** A list of a thousand rules may have megabytes: it is read once a minute. */
export function useRules() {
  return useQuery({ ...summaries, pollMs: (data) => Math.max(20_000, 60 * (data?.rules.length ?? 0)) })
}

/**
 * Names rules. It reads again where a name is missing that is newer than the list: an id begins with its time.
 *
 * @param wanted ids that the screen shows
 * @param isRead false: only what others have read is known
 */
export function useRuleNames(wanted: readonly string[] = [], isRead = true) {
  const mayRead = may('read all rules')
  const found = useQuery({ ...summaries, pollMs: false, staleMs: namesStaleMs, isRead: isRead && mayRead })
  const rules = found.data?.rules ?? []
  const names = new Map(rules.map(({ id, name }) => [id, name]))
  const isNew = (id: string) => timeOfId(id) > found.dataUpdatedAt - clockSkewMs
  const missing = wanted.filter((id) => !names.has(id) && isNew(id))
  useEffect(() => {
    if (found.data && missing.length > 0) void found.refetch({ cancelRefetch: false })
  }, [missing.join()])
  function nameUnknown(id: string): string {
    if (mayRead && (found.isPending || found.isFetching)) return '…'
    return found.data && !isNew(id) ? 'Deleted rule' : 'Rule'
  }
  return {
    rules,
    /** Also if they cannot be read. */
    areKnown: !found.isPending,
    nameOf: (id: string) => names.get(id) ?? nameUnknown(id),
  }
}

/** Between the clocks of the service and of the browser. */
const clockSkewMs = 60_000

/** The rules without their conditions and actions. @param isWanted false: nothing is read yet */
export function useSummaries(isWanted: boolean): readonly RuleSummary[] {
  const found = useQuery({
    ...summaries,
    key: isWanted && may('read all rules') ? summaries.key : undefined,
    pollMs: false,
    staleMs: namesStaleMs,
  })
  return found.data?.rules ?? []
}

/** The definitions of all rules; undefined until they are known. @param isWanted false: nothing is read yet */
export function useDefinitions(isWanted: boolean): readonly Rule[] | undefined {
  const found = useQuery<{ rules: Rule[] }>({
    key: isWanted && may('read all rules') ? ['rules', 'definitions'] : undefined,
    read: () => api().rules.list(),
    pollMs: false,
    staleMs: namesStaleMs,
  })
  return found.data?.rules
}
