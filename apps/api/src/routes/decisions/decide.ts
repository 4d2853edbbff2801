import { isUuid, type WorkspaceTransaction } from '@automation/database'
import { type DecisionRow, readDecisionRow } from '@automation/history'
import { lockDecision, recordDecision, type WokenExecution } from '@automation/ledger'
import { refusals } from '../../errors.js'

/** Who decides what. */
export interface ToDecide {
  workspaceId: string
  executionId: string
  choice: string
  reason: string | undefined
  /** As in the audit log. */
  by: string
  /** Whether somebody with one of these roles decides. */
  hasRole(roles: NonNullable<DecisionRow['asked']>['roles']): boolean
}

/**
 * @returns also the execution, if it is due by that: its job is to be added after the commit
 * @throws a refusal where the caller may not, or nobody can any more
 */
export async function decide(
  transaction: WorkspaceTransaction,
  { workspaceId, executionId, choice, reason, by, hasRole }: ToDecide,
): Promise<{ row: DecisionRow; woken: WokenExecution | undefined }> {
  if (!isUuid(executionId)) throw refusals.decisionNotFound()
  await lockDecision(transaction, workspaceId, executionId)
  const row = await readDecisionRow(transaction, workspaceId, executionId)
  if (!row?.asked) throw refusals.decisionNotFound()
  const { options, roles, ask } = row.asked
  if (roles && !hasRole(roles)) throw refusals.accessDenied(`One of the roles ${roles.join(', ')} is needed`)
  refuseEnded(row)
  if (!options.includes(choice))
    throw refusals.invalid([{ field: 'choice', message: `Must be one of ${options.join(', ')}` }])
  if (reason === undefined && ask?.includes('reason'))
    throw refusals.invalid([{ field: 'reason', message: 'Required' }])
  const made = { choice, ...(reason !== undefined && { reason }), by }
  const recorded = await recordDecision(transaction, workspaceId, row, made)
  if (recorded === undefined) throw refusals.decisionExpired()
  const { decision, woken } = recorded
  return { row: { ...row, status: 'decided', decision }, woken }
}

function refuseEnded({ status, decision }: DecisionRow): void {
  if (status === 'decided') throw refusals.alreadyDecided(decision?.choice ?? '')
  if (status === 'expired') throw refusals.decisionExpired()
  if (status === 'closed') throw refusals.decisionNotNeeded()
}
