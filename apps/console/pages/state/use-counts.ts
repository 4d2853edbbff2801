import type { AttentionItem, Overview } from '@automation/client'
import type { spans } from '../logic/filters.js'
import { useQuery } from './use-query.js'

interface Count {
  count: number
  word: string
  tone: 'bad' | 'wait'
}

/** What stands beside a screen in the sidebar: what other screens have read lately. By itself it asks nothing. */
export function useCounts(): Record<string, Count | undefined> {
  const attention = useKnown<{ rules: AttentionItem[] }>('attention')
  const overview = useKnown<Overview>('overview', '24h' satisfies keyof typeof spans)
  const needing = attention?.rules.length ?? 0
  const failed = overview?.totals.failed ?? 0
  return {
    today: needing > 0 ? { count: needing, word: 'need attention', tone: 'bad' } : undefined,
    executions: failed > 0 ? { count: failed, word: 'failed in the last day', tone: 'bad' } : undefined,
  }
}

function useKnown<Data>(...key: string[]): Data | undefined {
  return useQuery<Data>({ key, read: () => Promise.reject(), isRead: false, pollMs: false }).data
}
