import type { AttentionItem, DecisionPage, Overview } from '@automation/client'
import { useEffect, useState } from 'preact/hooks'
import type { spans } from '../logic/filters.js'
import { api, me } from './session.js'
import { useQuery } from './use-query.js'

interface Count {
  count: number
  word: string
  tone: 'bad' | 'wait'
}

/** The overview asks for as many groups of failures as it shows. */
export const failuresOfOverview = { failures: 20 }

/** What stands beside a screen in the sidebar: what other screens have read lately. */
export function useCounts(): Record<string, Count | undefined> {
  const attention = useKnown<{ rules: AttentionItem[] }>('attention')
  const last = '24h' satisfies keyof typeof spans
  const withFailures = useKnown<Overview>('overview', last, failuresOfOverview)
  const alone = useKnown<Overview>('overview', last)
  const overview = withFailures ?? alone
  const open = useKnown<DecisionPage>('open-decisions')?.decisions.length ?? 0
  const needing = attention?.rules.length ?? 0
  const failed = overview?.totals.failed ?? 0
  return {
    overview: needing > 0 ? { count: needing, word: 'need attention', tone: 'bad' } : undefined,
    decisions: open > 0 ? { count: open, word: 'to take', tone: 'wait' } : undefined,
    executions: failed > 0 ? { count: failed, word: 'failed in the last day', tone: 'bad' } : undefined,
  }
}

/** After a screen has read what it shows itself. */
const laterMs = 10_000
const oftenMs = 120_000

/** How many decisions wait for somebody: no other screen reads them, and who has to decide is seldom where they are listed. */
export function useOpenDecisions(): void {
  const [isLater, setLater] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), laterMs)
    return () => clearTimeout(timer)
  }, [])
  useQuery<DecisionPage>({
    key: ['open-decisions'],
    read: () => api().decisions.list({ status: 'open', limit: 50 }),
    isRead: isLater && me.value != null,
    pollMs: oftenMs,
    staleMs: oftenMs,
  })
}

function useKnown<Data>(...key: unknown[]): Data | undefined {
  return useQuery<Data>({ key, read: () => Promise.reject(), isRead: false, pollMs: false }).data
}
