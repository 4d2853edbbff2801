import type { BacktestReport } from '@automation/backtest'
import type { FastifyRequest } from 'fastify'

/** An embed session of one rule reads no names and counts of the other rules of its group, which a report has. */
export function leaveOutOthers<Report extends Pick<BacktestReport, 'moves'>>(
  { caller }: FastifyRequest,
  report: Report | null,
): Report | null {
  const isOfOneRule = caller?.session?.grant.rule !== undefined
  return isOfOneRule && report !== null ? { ...report, moves: [] } : report
}
