import { isUuid, type WorkspaceTransaction } from '@automation/database'
import { type DecisionRow, lockDecision, recordDecision } from '@automation/ledger'
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

/** @throws a refusal where the caller may not, or nobody can any more */
export async function decide(
  transaction: WorkspaceTransaction,
  { workspaceId, executionId, choice, reason, by, hasRole }: ToDecide,
): Promise<{ row: DecisionRow; eventId: string }> {
  const row = isUuid(executionId) ? await lockDecision(transaction, workspaceId, executionId) : null
  if (!row?.asked) throw refusals.decisionNotFound()
  const { options, roles, ask } = row.asked
  if (roles && !hasRole(roles)) throw refusals.accessDenied(`One of the roles ${roles.join(', ')} is needed`)
  refuseEnded(row)
  if (!options.includes(choice))
    throw refusals.invalid([{ field: 'choice', message: `Must be one of ${options.join(', ')}` }])
  if (reason === undefined && ask?.includes('reason'))
    throw refusals.invalid([{ field: 'reason', message: 'Required' }])
  const made = { choice, ...(reason !== undefined && { reason }), by }
  const decision = await recordDecision(transaction, workspaceId, row, made)
  if (decision === undefined) throw refusals.decisionExpired()
  return { row: { ...row, status: 'decided', decision }, eventId: decision.eventId }
}

function refuseEnded({ status, decision }: DecisionRow): void {
  if (status === 'decided') throw refusals.alreadyDecided(decision?.choice ?? '')
  if (status === 'expired') throw refusals.decisionExpired()
  if (status === 'closed') throw refusals.decisionNotNeeded()
}
