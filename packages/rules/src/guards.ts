import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { capitalize, type Fault, findDurationFault, parseDuration } from '@automation/engine'
import { Type } from 'typebox'

export const maxRunsPerHour = 100_000
const maxGuardMs = 30 * 86_400_000

/** A guard of a promotion. */
export const GuardToSet = Type.Object(
  {
    for: Type.String({
      description: 'How long the promoted version is watched, such as 24h. At most 30d.',
    }),
    maxRunsPerHour: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxRunsPerHour,
        description:
          'If the promoted version has more executions than this within an hour, the previous version is restored',
      }),
    ),
    maxFailureRate: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'If a greater share of the executions of the last hour fails, the previous version is restored. It counts from five finished executions on.',
      }),
    ),
  },
  { title: 'GuardToSet', additionalProperties: false },
)
export type GuardToSet = Type.Static<typeof GuardToSet>

/** What the schema cannot say. */
export function findGuardFaults(guard: GuardToSet): Fault[] {
  const ms = parseDuration(guard.for)
  return [
    ...(ms === undefined
      ? [{ field: 'guard.for', message: capitalize(String(findDurationFault(guard.for))) }]
      : []),
    ...(ms !== undefined && ms > maxGuardMs ? [{ field: 'guard.for', message: 'Must be at most 30d' }] : []),
    ...(guard.maxRunsPerHour === undefined && guard.maxFailureRate === undefined
      ? [{ field: 'guard', message: 'Must have maxRunsPerHour or maxFailureRate' }]
      : []),
  ]
}

/**
 * Begins to watch a version that was promoted in this transaction. The clock is that of Postgres. Events that wait by then are evaluated with this
 * version, however old they are.
 *
 * @param oldestUndone the time of the oldest of them, read before the transaction: it may take long
 */
export async function setGuard(
  transaction: WorkspaceTransaction,
  { id, workspaceId, version }: { id: string; workspaceId: string; version: number },
  previousVersion: number,
  guard: GuardToSet,
  oldestUndone: Date | null,
): Promise<void> {
  const seconds = (parseDuration(guard.for) ?? 0) / 1_000
  // A version that differs in its place in the group alone has not ended it.
  await transaction.ruleGuard.deleteMany({ where: { ruleId: id } })
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO rule_guards
      (rule_id, workspace_id, version, previous_version, max_runs_per_hour, max_failure_rate, oldest_at, ends_at)
    VALUES (${id}::uuid, ${workspaceId}::uuid, ${version}::int, ${previousVersion}::int,
            ${guard.maxRunsPerHour ?? null}::int, ${guard.maxFailureRate ?? null}::float8, ${oldestUndone}::timestamptz,
            now() + make_interval(secs => ${seconds}::float8))`)
}

/**
 * Ends the guards of rules whose definition somebody has changed. A rule that somebody activates is watched further, but needs no attention any more
 * because of a guard that has tripped.
 */
export async function endGuards(
  transaction: Pick<WorkspaceTransaction, 'ruleGuard'>,
  changed: string[],
  activated: string[],
): Promise<void> {
  if (changed.length + activated.length === 0) return
  await transaction.ruleGuard.deleteMany({
    where: {
      OR: [{ ruleId: { in: changed } }, { ruleId: { in: activated }, trippedAt: { not: null } }],
    },
  })
}
