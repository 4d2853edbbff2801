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
  const attention = useKnown<{ rules: AttentionItem[] }>('attention').data
  const [whole, small] = [useKnown<Overview>(...wholeKey), useKnown<Overview>(...smallKey)]
  const overview = (whole.dataUpdatedAt >= small.dataUpdatedAt ? whole : small).data
  const open = useKnown<DecisionPage>('open-decisions').data?.decisions.length ?? 0
  const needing = attention?.rules.length ?? 0
  const failed = overview ? overview.totals.failed - countAcknowledged(overview.failures) : 0
  return {
    overview: needing > 0 ? { count: needing, word: 'need attention', tone: 'bad' } : undefined,
    decisions: open > 0 ? { count: open, word: 'open', tone: 'wait' } : undefined,
    executions: failed > 0 ? { count: failed, word: 'failed in the last day', tone: 'bad' } : undefined,
  }
}

const oftenMs = 120_000
const last = '24h' satisfies keyof typeof spans
/** What screens read without a filter, and what is read for the sidebar alone. */
const wholeKey = ['overview', last]
const smallKey = ['overview', 'counts']

/** Reads what stands beside the screens, as far as no screen has read it lately. */
export function useIdleCounts(isIdle: boolean): void {
  useOpenDecisions(isIdle)
  useAttention({ isRead: isIdle, pollMs: oftenMs, staleMs: oftenMs })
  const isOld = Date.now() - useKnown(...wholeKey).dataUpdatedAt > oftenMs
  useQuery<Overview>({
    key: smallKey,
    // The last 24 hours, as the usual request has them.
    read: () => api().overview({ slices: 1, failures: 20 }),
    isRead: isIdle && isOld && me.value != null,
    pollMs: oftenMs,
    staleMs: oftenMs,
  })
}

/** The rules that somebody has to look at. */
export function useAttention({
  isRead = true,
  ...often
}: {
  isRead?: boolean
  pollMs: number
  staleMs?: number
}) {
  return useQuery<{ rules: AttentionItem[] }>({
    key: ['attention'],
    read: () => api().rules.attention(),
    isRead: isRead && me.value != null,
    ...often,
  })
}

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

function useKnown<Data>(...key: unknown[]) {
  return useQuery<Data>({ key, read: () => Promise.reject(), isRead: false, pollMs: false })
}
