import type { AttentionItem, Overview } from '@automation/client'
import { countOf, formatCount } from './count-words.js'

type Totals = Pick<
  Overview['totals'],
  'events' | 'succeeded' | 'failed' | 'cancelled' | 'unfinished' | 'unprocessed' | 'rejectedWebhooks'
>

/**
 * The first line of the overview: is anything wrong, and since when?
 *
 * @param needing the rules that need attention; undefined: not known
 * @param at writes a time
 * @param acknowledged how many of the failed executions somebody has acknowledged
 * @returns note: what somebody has seen to already, beside what is wrong
 */
export function describeState(
  totals: Totals,
  needing: readonly Pick<AttentionItem, 'reason' | 'since'>[] | undefined,
  at: (iso: string) => string,
  acknowledged = 0,
): { tone: 'good' | 'bad' | ''; text: string; note?: string } {
  const { failed, rejectedWebhooks, events } = totals
  const executions = totals.succeeded + failed + totals.cancelled + totals.unfinished
  const areSeen = failed > 0 && acknowledged >= failed
  const failures = `${formatCount(failed)} of ${countOf(executions, 'execution')} failed`
  const parts = [
    ...nameRules(
      // A single failure is among those that are counted.
      (needing ?? []).filter(({ reason }) => reason !== 'recent_failure' || failed === 0 || areSeen),
      at,
    ),
    ...(failed > 0 && !areSeen ? [failures] : []),
    ...(rejectedWebhooks > 0
      ? [countOf(rejectedWebhooks, 'webhook was refused', 'webhooks were refused')]
      : []),
  ]
  const seen = `${failures}, all acknowledged`
  if (parts.length > 0) return { tone: 'bad', text: parts.join(', '), ...(areSeen && { note: seen }) }
  if (areSeen) return { tone: '', text: seen }
  const counted = `${countOf(events, 'event')}, ${countOf(executions, 'execution')}, none failed`
  return needing === undefined ? { tone: '', text: counted } : { tone: 'good', text: `All well: ${counted}` }
}

/** Of the failed executions, those that somebody has acknowledged. */
export function countAcknowledged(failures: Overview['failures']): number {
  return failures.reduce((sum, { count, acknowledgement }) => sum + (acknowledgement ? count : 0), 0)
}

function nameRules(
  needing: readonly Pick<AttentionItem, 'reason' | 'since'>[],
  at: (iso: string) => string,
): string[] {
  const failing = needing.filter(({ reason }) => reason === 'failures')
  const others = needing.length - failing.length
  const since = failing.map((rule) => rule.since).sort()[0]
  return [
    ...(since === undefined
      ? []
      : [
          `${countOf(failing.length, 'rule has been failing', 'rules have been failing')} since ${at(since)}`,
        ]),
    ...(others > 0
      ? [
          countOf(
            others,
            `${failing.length > 0 ? 'other rule' : 'rule'} needs attention`,
            `${failing.length > 0 ? 'other rules' : 'rules'} need attention`,
          ),
        ]
      : []),
  ]
}
