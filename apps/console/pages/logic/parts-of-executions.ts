import type { Ledger } from '@automation/client'

export type Part = [count: number, word: string, tone?: string]

/** Those of rules, as the overview counts them, and the deliveries to subscriptions beside them: their sum is all of them. */
export function partsOfExecutions({
  succeeded,
  failed,
  cancelled,
  suppressed,
  waiting,
  leased,
  deliveries,
}: Ledger['executions']): Part[] {
  return [
    [succeeded - deliveries.succeeded, 'of rules succeeded'],
    [failed - deliveries.failed, 'of rules failed', 'bad'],
    [cancelled - deliveries.cancelled, 'of rules cancelled'],
    [suppressed, 'of rules suppressed'],
    [waiting + leased - deliveries.unfinished, 'of rules unfinished'],
    [deliveries.begun, 'deliveries to subscriptions'],
  ]
}
