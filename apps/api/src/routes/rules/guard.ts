import type { Prisma } from '@automation/database'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import { orNull, refusalResponses, Timestamp } from '../responses.js'
import { ruleId } from './check-rule.js'
import { RuleParams } from './rule-schemas.js'

export const RuleGuard = Type.Object(
  {
    version: Type.Integer({ description: 'The promoted version, which it watches' }),
    previousVersion: Type.Integer({ description: 'The version that it restores' }),
    maxRunsPerHour: orNull(Type.Integer()),
    maxFailureRate: orNull(Type.Number()),
    startedAt: Timestamp,
    endsAt: Timestamp,
    trippedAt: orNull({ ...Timestamp, description: 'When it restored the version before; null: it watches' }),
    tripReason: orNull(Type.Enum(['runs', 'failures'], { description: 'The limit that was crossed' })),
    restoredVersion: orNull(Type.Integer({ description: 'The version of the rule after that' })),
  },
  { title: 'RuleGuard' },
)
type RuleGuard = Type.Static<typeof RuleGuard>

export const guardRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/:id/guard', {
    config: { role: 'viewer' },
    schema: {
      tags: ['Drafts'],
      operationId: 'getRuleGuard',
      summary: 'Get the guard of a promoted version',
      description:
        'A guard ends with its time, and with the next change of the definition. One that has tripped stays until somebody changes or activates the rule.',
      params: RuleParams,
      response: { 200: RuleGuard, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => {
      const rule = await workspace.database.rule.findUnique({
        where: { id: ruleId(params) },
        select: { version: true, guard: true },
      })
      if (rule === null) throw refusals.ruleNotFound()
      const { guard, version } = rule
      if (guard === null || !isInForce(guard, version)) throw refusals.guardNotFound()
      return presentGuard(guard)
    },
  })
}

/** An API of the version before changes rules without ending their guards. @param version of the rule */
export function isInForce(
  guard: Pick<Prisma.RuleGuardGetPayload<object>, 'version' | 'restoredVersion'>,
  version: number,
): boolean {
  return version === (guard.restoredVersion ?? guard.version)
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
