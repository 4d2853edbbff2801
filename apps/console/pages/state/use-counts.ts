import type { AttentionItem, DecisionPage, Overview } from '@automation/client'
import { useEffect, useState } from 'preact/hooks'
import { countAcknowledged } from '../logic/describe-state.js'
import type { spans } from '../logic/filters.js'
import { api, me } from './session.js'
import { queries, useQuery } from './use-query.js'

export interface Count {
  count: number
  word: string
  tone: 'bad' | 'wait'
}

/** What stands beside a screen in the sidebar: what other screens have read lately. */
export function useCounts(): Record<string, Count | undefined> {
  const attention = useKnown<{ rules: AttentionItem[] }>('attention')
  const last = '24h' satisfies keyof typeof spans
  const overview = useKnown<Overview>('overview', last)
  const open = useKnown<DecisionPage>('open-decisions')?.decisions.length ?? 0
  const needing = attention?.rules.length ?? 0
  const failed = overview ? overview.totals.failed - countAcknowledged(overview.failures) : 0
  return {
    overview: needing > 0 ? { count: needing, word: 'need attention', tone: 'bad' } : undefined,
    decisions: open > 0 ? { count: open, word: 'open', tone: 'wait' } : undefined,
    executions: failed > 0 ? { count: failed, word: 'failed in the last day', tone: 'bad' } : undefined,
  }
}

const oftenMs = 120_000

/** What waits for somebody to decide: who has to is seldom where decisions are listed. */
export function useOpenDecisions(isRead = true) {
  return useQuery<DecisionPage>({
    key: ['open-decisions'],
    read: () => api().decisions.list({ status: 'open', limit: 50 }),
    isRead: isRead && me.value != null,
    pollMs: oftenMs,
    staleMs: oftenMs,
  })
}

/** How often (ms) it is looked whether the screen is drawn. */
const lookMs = 150

/** Whether the screen is drawn: twice in a row nothing was read, and nothing was still to come. What it does not need may be read then. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false)
  const isKnown = me.value != null
  useEffect(() => {
    if (!isKnown || isIdle) return
    let wasQuiet = false
    const timer = setInterval(() => {
      const isQuiet = queries.isFetching() === 0 && document.querySelector('.loading') === null
      setIdle(isQuiet && wasQuiet)
      wasQuiet = isQuiet
    }, lookMs)
    return () => clearInterval(timer)
  }, [isKnown, isIdle])
  return isIdle
}

function useKnown<Data>(...key: unknown[]): Data | undefined {
  return useQuery<Data>({ key, read: () => Promise.reject(), isRead: false, pollMs: false }).data
}
