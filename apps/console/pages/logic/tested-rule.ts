import { describeClause } from './describe-clause.js'
import { type RecentSpan, spans } from './filters.js'
import type { Definition } from './rule-definition.js'

/** What a backtest evaluates. Name, description and labels change nothing. */
export function testedOf({ name: _, description: __, labels: ___, trigger, ...tested }: Definition) {
  // What is left out would be that of the rule as it is stored.
  return { trigger, group: null, order: null, schedule: null, perKey: null, ...tested }
}

/** The spans of a backtest, and a range of one's own. */
export const ranges = ['24h', '7d', '30d', 'own'] as const
export type RangeName = (typeof ranges)[number]

/** The range of a request. Without an end it ends now, by the clock that dates events. @param now epoch ms */
export function rangeOf(
  name: RangeName,
  own: { from: string | undefined; to: string | undefined },
  now: number,
): { from?: string; to?: string } {
  if (name !== 'own') return { from: new Date(now - spans[name as RecentSpan].ms).toISOString() }
  return { ...(own.from && { from: own.from }), ...(own.to && { to: own.to }) }
}

/** The words of the clause at a path such as `conditions[0].any[1]`; undefined where there is none. */
export function clauseAt({ conditions }: Pick<Definition, 'conditions'>, path: string): string | undefined {
  let node: unknown = { conditions }
  for (const [step] of path.matchAll(/\w+/g)) node = (node as Record<string, unknown> | undefined)?.[step]
  if (typeof node !== 'object' || node === null || !('operator' in node)) return undefined
  const { field, operator, value } = node as { field: string; operator: string; value?: unknown }
  return describeClause({ field, operator, expected: value })
}

/** How long until a running backtest is looked at again: five times within the first minute, then three times a minute. */
export function nextLookMs(reads: number): number {
  return looksMs[Math.min(Math.max(reads, 1), looksMs.length) - 1] as number
}

const looksMs = [800, 3_000, 8_000, 15_000, 20_000]
