import { askForDifference, type Compared, findDifference } from '@automation/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readPreference } from '../../acceptance/prefer.js'
import { administratorOf } from '../../access/administrator.js'
import { leaveOutOthers } from '../../access/leave-out-others.js'
import type { RuleComparison } from './draft-schemas.js'
import { waitForBacktest } from './wait-for-backtest.js'

/** What workers have stored about a draft or a shadow. They go on if it is old; with `Prefer: wait` the response has what they find then. */
export async function readComparison(
  request: FastifyRequest,
  reply: FastifyReply,
  compared: Compared,
  retentionDays: number,
): Promise<RuleComparison> {
  const { waitMs, applied } = readPreference(request.headers.prefer)
  if (applied !== undefined) reply.header('preference-applied', applied)
  let found = await askForDifference(administratorOf(request), compared, retentionDays)
  if (applied !== undefined && found?.isUnfinished) {
    await waitForBacktest(request, found.id, waitMs)
    found = await findDifference(request.workspace.reads, compared)
  }
  return { difference: leaveOutOthers(request, found?.report ?? null), differenceFault: found?.error ?? null }
}
