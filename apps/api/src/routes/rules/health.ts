import { type Prisma, postgresNow, type WorkspaceDatabase } from '@automation/database'
import { findAcknowledged } from '@automation/history'
import { countsOf } from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Id, refusalResponses, Timestamp } from '../../responses.js'

const HealthReport = Type.Object(
  {
    totalRules: Type.Integer(),
    activeRules: Type.Integer(),
    inactiveRules: Type.Integer(),
    totalExecutions: Type.Integer(),
    successfulExecutions: Type.Integer(),
    failedExecutions: Type.Integer(),
    averageSuccessRate: Type.Number({ description: 'Percentage with two decimals. 0 without executions.' }),
    rulesNeedingAttention: Type.Integer(),
  },
  { title: 'RuleHealth' },
)

export const AttentionItem = Type.Object(
  {
    id: Id,
    name: Type.String(),
    failureCount: Type.Integer(),
    lastError: Type.String(),
    lastFailureAt: Timestamp,
    reason: Type.Enum(
      [
        'failures',
        'unknown_outcome',
        'event_loop',
        'work_budget',
        'event_budget',
        'worker_crashes',
        'auto_paused',
        'guard_tripped',
        'silent',
        'recent_failure',
      ],
      {
        description:
          'failures: the rule fails often, or its latest executions failed. unknown_outcome: it is unknown whether a call was made. event_loop: a chain of emitted events reached its limit. work_budget: evaluating the rule exceeded its limit; after three such events in a row the rule is switched off. event_budget: the rule emitted more events than one event may cause, or than a workspace may emit per minute. worker_crashes: two workers crashed while they ran only this rule, so it was switched off. auto_paused: the rule was switched off because of its failures. guard_tripped: the promoted version exceeded a limit of its guard, so the previous version was restored. silent: the rule has matched nothing for as long as its `expectEvery`. recent_failure: the latest execution of an active rule failed within the last 24 hours, and there is no other reason; a success or an acknowledgement takes the rule off. There may be more reasons in later versions: show those that you do not know as they are.',
      },
    ),
    explanation: Type.String({
      description:
        'The reason as a sentence, with its threshold: 3 failures in a row, or failures in half of at least 5 executions.',
    }),
    since: {
      ...Timestamp,
      description:
        'When it began. failures: the first of the failures in a row; the latest failure if the latest execution succeeded. recent_failure: the latest failure.',
    },
    failuresInARow: Type.Integer({
      minimum: 0,
      description: 'How many of the latest executions failed, without one that succeeded among them',
    }),
  },
  { title: 'AttentionItem' },
)
type AttentionItem = Type.Static<typeof AttentionItem>
const AttentionList = Type.Object({ rules: Type.Array(AttentionItem) }, { title: 'AttentionList' })

const dayMs = 86_400_000
const recentDays = 7
/** The reasons for which rules are paused. */
const lasting: ReadonlySet<string> = new Set(['auto_paused', 'work_budget', 'worker_crashes'])
/** What is over once somebody has acknowledged the last failure. */
const passing: ReadonlySet<string> = new Set(['unknown_outcome', 'event_loop', 'event_budget'])
const failuresInARow = 3
const fewestExecutions = 5

/** Both read the counters alone, so they cost the same however long the history is. */
export const healthRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/health', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getRuleHealth',
      summary: 'Get the health of all rules',
      description: 'Numbers of rules, of executions and of failures, over all rules and their whole life.',
      response: { 200: HealthReport, ...refusalResponses() },
    },
    handler: async ({ workspace: { reads: database } }) => {
      const [totalRules, activeRules, { _sum: sum }, attention] = await Promise.all([
        database.rule.count(),
        database.rule.count({ where: { isActive: true } }),
        database.ruleCounters.aggregate({ _sum: { successCount: true, failureCount: true } }),
        findRulesNeedingAttention(database),
      ])
      const { successCount: successful, failureCount: failed } = countsOf(sum)
      const total = successful + failed
      return {
        totalRules,
        activeRules,
        inactiveRules: totalRules - activeRules,
        totalExecutions: total,
        successfulExecutions: successful,
        failedExecutions: failed,
        averageSuccessRate: total === 0 ? 0 : Math.round((successful * 10_000) / total) / 100,
        rulesNeedingAttention: attention.length,
      }
    },
  })

  app.get('/attention', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listRulesNeedingAttention',
      summary: 'List the rules that need attention, latest first',
      description:
        'Each with its `reason`, such as failures, a pause or a rollback. Rules with nothing but a recent failure (`recent_failure`) follow after all others. A rule whose last failure somebody acknowledged is left out until it fails again, unless an earlier failure is the reason. Use it for a page or an alert: an empty list means that no rule needs a person.',
      response: { 200: AttentionList, ...refusalResponses() },
    },
    handler: async ({ workspace: { reads } }) => ({
      rules: await findRulesNeedingAttention(reads),
    }),
  })
}

/** What happened once is news for some days; a rule that was paused stays on the list until somebody sees to it. */
export async function findRulesNeedingAttention(database: WorkspaceDatabase): Promise<AttentionItem[]> {
  const now = postgresNow()
  const recently = new Date(now - recentDays * dayMs)
  const isRecent = { gte: recently }
  const candidates = await database.ruleCounters.findMany({
    where: {
      OR: [
        { attentionReason: { in: [...lasting] } },
        { attentionReason: { not: null }, attentionAt: isRecent },
        { failureCount: { gt: 0 }, OR: [{ lastFailureAt: isRecent }, { lastSuccessAt: isRecent }] },
      ],
    },
  })
  const acknowledged = await findAcknowledged(database, candidates)
  const evaluated = candidates
    .map((counters) => evaluate(counters, recently) ?? tellRecentFailure(counters, new Date(now - dayMs)))
    .filter((item) => item !== undefined)
    .filter((item) => !(acknowledged.has(item.id) && isOfLastFailure(item)))
  // A rule is listed once. That it was paused comes first, then its guard, then its silence.
  const paused = new Set(evaluated.filter(({ reason }) => lasting.has(reason)).map(({ id }) => id))
  const tripped = (await findTripped(database)).filter(({ id }) => !paused.has(id))
  const others = new Set([...paused, ...tripped.map(({ id }) => id)])
  const silent = (await findSilent(database)).filter(({ id }) => !others.has(id))
  const told = new Set([...tripped, ...silent].map(({ id }) => id))
  const items = [...evaluated.filter(({ id }) => !told.has(id)), ...tripped, ...silent].sort(
    (one, other) => Number(isOnce(one)) - Number(isOnce(other)) || newsOf(other) - newsOf(one),
  )
  // Names are another question, and a rule may have been deleted before it is asked: then it needs no attention.
  const named = await database.rule.findMany({
    where: { id: { in: items.map(({ id }) => id) } },
    select: { id: true, name: true, isActive: true },
  })
  const byId = new Map(named.map((rule) => [rule.id, rule]))
  return items.flatMap((item) => {
    const rule = byId.get(item.id)
    return rule === undefined || (isOnce(item) && !rule.isActive) ? [] : [{ ...item, name: rule.name }]
  })
}

function isOnce({ reason }: Evaluated): boolean {
  return reason === 'recent_failure'
}

/** Another failure does not say what became of a call that may have arrived: its own reason stays. */
function isOfLastFailure({ reason, since, lastFailureAt }: Evaluated): boolean {
  return (
    reason === 'failures' ||
    reason === 'recent_failure' ||
    (passing.has(reason) && Date.parse(since) >= Date.parse(lastFailureAt))
  )
}

/** Rules that keep failing have news with each failure. epoch ms */
function newsOf({ reason, since, lastFailureAt }: Evaluated): number {
  return Date.parse(reason === 'failures' ? lastFailureAt : since)
}

/** A guard that has tripped is a row of its own, which the next change of its rule removes. */
async function findTripped({ ruleGuard, rule }: WorkspaceDatabase): Promise<Evaluated[]> {
  const guards = await ruleGuard.findMany({ where: { trippedAt: { not: null } } })
  if (guards.length === 0) return []
  const rules = await rule.findMany({
    where: { id: { in: guards.map(({ ruleId }) => ruleId) } },
    include: { counters: true },
  })
  const byId = new Map(rules.map((row) => [row.id, row]))
  return guards.flatMap(({ ruleId, trippedAt }) => {
    const { counters } = byId.get(ruleId) ?? {}
    if (trippedAt === null || !counters) return []
    return [tell(counters, 'guard_tripped', trippedAt, sentences.guard_tripped)]
  })
}

/** A rule that has failed for a while may be silent, too: that nothing comes is the greater news. */
async function findSilent({ ruleSilence, ruleCounters }: WorkspaceDatabase): Promise<Evaluated[]> {
  const silences = await ruleSilence.findMany({ where: { silentAt: { not: null } } })
  if (silences.length === 0) return []
  const rows = await ruleCounters.findMany({
    where: { ruleId: { in: silences.map(({ ruleId }) => ruleId) } },
  })
  const byId = new Map(rows.map((row) => [row.ruleId, row]))
  return silences.flatMap(({ ruleId, silentAt }) => {
    const counters = byId.get(ruleId)
    return silentAt && counters ? [tell(counters, 'silent', silentAt, sentences.silent)] : []
  })
}

type Candidate = Prisma.RuleCountersGetPayload<object>
type Evaluated = Omit<AttentionItem, 'name'>

/** A rule is listed once; frequent failures are its reason only if there is no other. */
function evaluate(counters: Candidate, recently: Date): Evaluated | undefined {
  const { attentionReason, attentionAt } = counters
  if (attentionReason !== null && attentionAt !== null) {
    const reason = attentionReason as keyof typeof sentences
    if (lasting.has(reason) || attentionAt >= recently)
      return tell(counters, reason, attentionAt, sentences[reason])
  }
  const failures = explainFailures(counters)
  if (failures === undefined) return undefined
  const { lastFailureAt, failingSince, consecutiveFailures } = counters
  const since = consecutiveFailures > 0n ? (failingSince ?? lastFailureAt) : lastFailureAt
  return tell(counters, 'failures', since ?? recently, failures)
}

/** One failure is no pattern, but somebody should know of it: until the rule succeeds, for a day at most. */
function tellRecentFailure(counters: Candidate, aDayAgo: Date): Evaluated | undefined {
  const { lastFailureAt, lastSuccessAt, consecutiveFailures } = counters
  if (lastFailureAt === null || lastFailureAt < aDayAgo) return undefined
  const lead = lastSuccessAt === null ? 1 : lastFailureAt.getTime() - lastSuccessAt.getTime()
  // Both in the same ms: the count knows which of them was recorded last.
  const isLatest = lead > 0 || (lead === 0 && consecutiveFailures > 0n)
  return isLatest ? tell(counters, 'recent_failure', lastFailureAt, sentences.recent_failure) : undefined
}

const sentences = {
  recent_failure: 'The latest execution failed, within the last 24 hours',
  unknown_outcome: 'A worker crashed during a call, so it is unknown whether the call arrived',
  event_loop: 'An event was not emitted, because its chain of events reached the limit',
  work_budget: 'Evaluating the rule exceeded its limit',
  event_budget: 'Events were not emitted, because there were too many',
  worker_crashes: 'Two workers crashed while they ran only this rule',
  auto_paused: 'The rule was switched off, because it failed too many times in a row',
  guard_tripped: 'The promoted version exceeded a limit of its guard, so the previous version was restored',
  silent: 'The rule has matched nothing for as long as it should at most',
}

function tell(
  { ruleId, lastError, lastFailureAt, ...counters }: Candidate,
  reason: AttentionItem['reason'],
  since: Date,
  sentence: string,
): Evaluated {
  const { failureCount, consecutiveFailures } = countsOf(counters)
  return {
    id: ruleId,
    failureCount,
    failuresInARow: consecutiveFailures,
    lastError: lastError ?? sentence,
    lastFailureAt: (lastFailureAt ?? since).toISOString(),
    reason,
    explanation: sentence,
    since: since.toISOString(),
  }
}

/** Several times in a row, or in at least half of its executions; undefined for a rule that fails less often. */
function explainFailures(counters: Candidate): string | undefined {
  const { successCount, failureCount, consecutiveFailures } = countsOf(counters)
  const executions = successCount + failureCount
  if (consecutiveFailures >= failuresInARow)
    return `The last ${consecutiveFailures} executions failed (a rule needs attention after ${failuresInARow} in a row)`
  if (executions >= fewestExecutions && failureCount * 2 >= executions)
    return `${failureCount} of ${executions} executions failed (a rule needs attention if half of at least ${fewestExecutions} fail)`
  return undefined
}
