import type { Overview } from '@automation/client'
import { countOf } from './count-words.js'

/**
 * The first line of Today: is anything wrong?
 *
 * @param needing how many rules need attention; undefined: not known
 */
export function describeState(
  { failed, rejectedWebhooks }: Pick<Overview['totals'], 'failed' | 'rejectedWebhooks'>,
  needing: number | undefined,
): { tone: 'good' | 'bad' | ''; text: string } {
  if (needing) return { tone: 'bad', text: `${countOf(needing, 'rule needs', 'rules need')} attention` }
  const failures = [
    ...(failed > 0 ? [`${countOf(failed, 'execution')} failed`] : []),
    ...(rejectedWebhooks > 0
      ? [countOf(rejectedWebhooks, 'webhook was refused', 'webhooks were refused')]
      : []),
  ]
  if (failures.length > 0) return { tone: 'bad', text: failures.join(', ') }
  return needing === 0 ? { tone: 'good', text: 'All well' } : { tone: '', text: 'No execution failed' }
}
