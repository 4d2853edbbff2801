import { changeWorkspace, orNull } from '@automation/access'
import { NotAdmitted } from '@automation/admission'
import { type Prisma, ReadTooLong, type WorkspaceDatabase } from '@automation/database'
import { findOldestUndone } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { IfMatchHeader, isTagRefused } from '../../etag.js'
import { refusalResponses, Timestamp } from '../../responses.js'
import { ruleId } from './check-rule.js'
import { RuleParams } from './rule-schemas.js'

export const RuleGuard = Type.Object(
  {
    version: Type.Integer({ description: 'The promoted version, which the guard watches' }),
    previousVersion: Type.Integer({ description: 'The previous version, which the guard restores' }),
    maxRunsPerHour: orNull(Type.Integer()),
    maxFailureRate: orNull(Type.Number()),
    startedAt: Timestamp,
    endsAt: Timestamp,
    trippedAt: orNull({ ...Timestamp, description: 'Time of the rollback. null while the guard is active.' }),
    tripReason: orNull(Type.Enum(['runs', 'failures'], { description: 'The limit that was exceeded' })),
    restoredVersion: orNull(Type.Integer({ description: 'The version of the rule after the rollback' })),
  },
  { title: 'RuleGuard' },
)
type RuleGuard = Type.Static<typeof RuleGuard>

export const guardRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id/guard', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRuleGuard',
      summary: 'Get the guard of a promoted version',
      description:
        'A guard ends when its time is over, or when the definition changes. A new order in the group alone does not end it. After a rollback it stays until the rule is changed or activated.',
      params: RuleParams,
      response: { 200: RuleGuard, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => {
      const { guard } = await findGuarded(workspace.database, ruleId(params))
      return presentGuard(guard)
    },
  })

  app.delete('/:id/guard', {
    config: { role: 'editor' },
    schema: {
      operationId: 'endRuleGuard',
      summary: 'End the guard of a promoted version early',
      description:
        'The version stays, and is no longer rolled back automatically. After a rollback, this clears the alert that the rule needs attention. If-Match accepts the ETag of the rule.',
      params: RuleParams,
      headers: IfMatchHeader,
      response: { 204: Type.Null(), ...refusalResponses(404, 412, 413, 415) },
    },
    handler: async (request, reply) => {
      const id = ruleId(request.params)
      await changeWorkspace(administratorOf(request), async (transaction) => {
        const { version, guard } = await findGuarded(transaction, id)
        if (isTagRefused(request, `"${version}"`)) throw refusals.versionMismatch()
        await transaction.ruleGuard.delete({ where: { ruleId: id } })
        const { trippedAt } = guard
        const details = { version: guard.version, trippedAt: trippedAt?.toISOString() ?? null }
        return { result: undefined, entry: { action: 'guard.ended', subject: id, details } }
      })
      return reply.status(204).send(null)
    },
  })
}

/** @throws refusals: 404 where there is no such rule, or nothing watches it */
async function findGuarded({ rule: rules }: Pick<WorkspaceDatabase, 'rule'>, id: string) {
  const rule = await rules.findUnique({ where: { id }, select: { version: true, guard: true } })
  if (rule === null) throw refusals.ruleNotFound()
  const { guard, version } = rule
  if (guard === null) throw refusals.guardNotFound()
  return { version, guard }
}

export function presentGuard(guard: Prisma.RuleGuardGetPayload<object>): RuleGuard {
  return {
    version: guard.version,
    previousVersion: guard.previousVersion,
    maxRunsPerHour: guard.maxRunsPerHour,
    maxFailureRate: guard.maxFailureRate,
    startedAt: guard.startedAt.toISOString(),
    endsAt: guard.endsAt.toISOString(),
    trippedAt: guard.trippedAt?.toISOString() ?? null,
    tripReason: guard.tripReason as RuleGuard['tripReason'],
    restoredVersion: guard.restoredVersion,
  }
}

/** Where Postgres is too busy to say it, the guard learns it from a worker, a second later. */
export async function readOldestUndone({ workspace: { reads } }: FastifyRequest): Promise<Date | null> {
  try {
    return await findOldestUndone(reads)
  } catch (error) {
    if (error instanceof ReadTooLong || error instanceof NotAdmitted) return null
    throw error
  }
}
