import type { Administrator } from '@automation/access'
import type { BacktestSubject, TestedDefinition } from '@automation/backtest'
import { readClock } from '@automation/database'
import { type Fault, normaliseRule } from '@automation/engine'
import {
  BacktestToCreate,
  cancelBacktest,
  completeRange,
  createBacktest,
  findBacktest,
  findRuleBodyFaults,
  isBacktestRunning,
  ListedBacktest,
  listBacktests,
  maxRuleBytes,
  readActiveVersion,
  readHistoryFrom,
  StoredBacktest,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { type StoredResponse, sendStored } from '../../acceptance/idempotency/stored-response.js'
import { PreferHeader, readPreference } from '../../acceptance/prefer.js'
import { leaveOutOthers } from '../../access/leave-out-others.js'
import { refusals } from '../../errors.js'
import { cutPage, pageArguments } from '../../lists/page.js'
import { bodyFaults } from '../../plugins/validation.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { findFaults, readOwnTypes, refuseFaults, refuseTrigger } from './check-rule.js'
import { findRangeFaults, readTimes } from './find-range-faults.js'
import { waitForBacktest } from './wait-for-backtest.js'

const BacktestParams = Type.Object({ id: Type.String() })
const BacktestPage = Type.Object(
  { backtests: Type.Array(ListedBacktest), nextCursor: NextCursor },
  { title: 'BacktestPage' },
)

const defaultLimit = 50

/** What rules would have done for past events. Workers compute it. */
export const backtestRoutes: FastifyPluginAsyncTypebox<{
  bodyLimitBytes: number
  retentionDays: number
}> = async (app, { bodyLimitBytes, retentionDays }) => {
  app.post('/backtests', {
    bodyLimit: Math.min(maxRuleBytes, bodyLimitBytes),
    attachValidation: true,
    config: { role: 'operator', key: 'change' },
    schema: {
      operationId: 'createBacktest',
      summary: 'Compute what a rule would have done for past events. Nothing is executed',
      description:
        'With `ruleId` and `definition`, the current version of the rule is compared with the definition; with only one of them, that one is tested. A worker computes the backtest: the response is 202, or 200 if it is done within `Prefer: wait=<seconds>`. A repeat with the same Idempotency-Key gets the backtest as it was created. A workspace may have 5 unfinished backtests. The newest 1,000 finished ones are kept for 30 days.',
      body: BacktestToCreate,
      headers: PreferHeader,
      response: {
        200: StoredBacktest,
        202: StoredBacktest,
        ...refusalResponses(404, 409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const now = await readClock(app.database)
      const { database, id } = request.workspace
      const historyFrom = await readHistoryFrom(database, id, retentionDays, now)
      const subject = await readSubject(request, request.body, historyFrom, now)
      const { pace = 'gentle' } = request.body
      const create = (administrator: Administrator) =>
        createBacktest(administrator, { subject, historyFrom, pace })
      const { status, headers, body } = await changeOnce(request, create, presentCreated)
      const { waitMs, applied } = readPreference(request.headers.prefer)
      if (applied !== undefined) reply.header('preference-applied', applied)
      const created = body as StoredBacktest
      const isAwaited = applied !== undefined && waitMs > 0
      const backtest = isAwaited ? await waitForEnd(request, created, waitMs) : created
      return sendStored(reply, {
        status: isBacktestRunning(backtest) ? status : 200,
        headers,
        body: { ...backtest, report: leaveOutOthers(request, backtest.report) },
      })
    },
  })

  app.get('/backtests', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listBacktests',
      summary: 'List the backtests of the last 30 days, newest first',
      description: 'Without their reports. An unfinished backtest has its `progress`.',
      querystring: Type.Object(PageQuery),
      response: { 200: BacktestPage, ...refusalResponses() },
    },
    handler: async ({ query, workspace }) => {
      const { limit = defaultLimit } = query
      const rows = await listBacktests(workspace.reads, pageArguments(query, limit))
      const { page, nextCursor } = cutPage(rows, limit)
      return { backtests: page, nextCursor }
    },
  })

  app.get('/backtests/:id', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getBacktest',
      summary: 'Get the progress of a backtest and its report so far',
      description:
        'Poll it until `status` is no longer `waiting` or `running`. The report grows while the backtest is in progress.',
      params: BacktestParams,
      response: { 200: StoredBacktest, ...refusalResponses(404) },
    },
    handler: async (request) => {
      const { params, workspace } = request
      const found = await findBacktest(workspace.reads, params.id)
      if (found === null) throw refusals.backtestNotFound()
      return { ...found, report: leaveOutOthers(request, found.report) }
    },
  })

  app.delete('/backtests/:id', {
    config: { role: 'operator' },
    schema: {
      operationId: 'cancelBacktest',
      summary: 'Cancel a backtest. The report so far stays',
      description:
        'Use it to make room: a workspace has at most 5 unfinished backtests. One that has ended is 409 with `backtest_ended`.',
      params: BacktestParams,
      response: { 204: Type.Null(), ...refusalResponses(404, 409, 413, 415) },
    },
    handler: async ({ params, workspace }, reply) => {
      const before = await cancelBacktest(workspace.database, params.id)
      if (before === null) throw refusals.backtestNotFound()
      if (before === 'done' || before === 'failed') throw refusals.backtestEnded()
      return reply.status(204).send(null)
    },
  })
}

function presentCreated(backtest: StoredBacktest): StoredResponse {
  const location = `/api/automation-rules/backtests/${backtest.id}`
  return { status: 202, headers: { location }, body: backtest }
}

/** @throws refusals: 422 with every fault, 400 for an unknown trigger, 404 for an unknown rule */
async function readSubject(
  request: FastifyRequest,
  body: BacktestToCreate,
  historyFrom: number | null,
  now: number,
): Promise<BacktestSubject> {
  const shapeFaults = bodyFaults(request.validationError ?? {})
  const definition = shapeFaults.length === 0 ? body.definition : undefined
  const found = definition === undefined ? undefined : await findDefinitionFaults(request, definition)
  refuseFaults([
    ...shapeFaults,
    ...(found?.faults ?? []),
    ...(shapeFaults.length === 0 ? findRangeFaults(body, historyFrom, now) : []),
  ])
  if (found?.unknownTrigger) throw await refuseTrigger(request, definition?.trigger, 'definition.trigger')
  const { ruleId } = body
  const { database } = request.workspace
  const active = ruleId === undefined ? undefined : await readActiveVersion(database, ruleId)
  if (ruleId !== undefined && active === undefined) throw refusals.ruleNotFound()
  return {
    ...(ruleId !== undefined && { ruleId: ruleId.toLowerCase() }),
    ...(active && { active }),
    ...(definition && { draft: completeDraft(definition, active) }),
    ...completeRange(readTimes(body), now),
  }
}

/** A definition without `group` stays in that of the rule that it is compared with, and one without `perKey` keeps its limits. */
function completeDraft(
  definition: NonNullable<BacktestToCreate['definition']>,
  active: BacktestSubject['active'],
): TestedDefinition {
  const place = definition.group === undefined ? active?.definition : definition
  const { perKey = active?.definition.perKey } = definition
  const { group = null, order = null } = place ?? {}
  const complete = { conditions: [], ...definition, group, order, ...(perKey && { perKey }) }
  return { ...complete, ...normaliseRule(complete) } as TestedDefinition
}

async function findDefinitionFaults(
  request: FastifyRequest,
  definition: NonNullable<BacktestToCreate['definition']>,
) {
  const { faults, unknownTrigger } = findRuleBodyFaults(
    definition,
    [],
    await findFaults(request, definition),
    await readOwnTypes(request, definition),
  )
  const within = ({ field, message }: Fault) => ({ field: `definition.${field}`, message })
  return { faults: faults.map(within), unknownTrigger }
}

async function waitForEnd(
  request: FastifyRequest,
  created: StoredBacktest,
  waitMs: number,
): Promise<StoredBacktest> {
  try {
    await waitForBacktest(request, created.id, waitMs)
    return (await findBacktest(request.workspace.reads, created.id)) ?? created
  } catch (error) {
    // It is committed: a refusal would say that nothing was done, and a client would make another one.
    request.log.warn({ err: error }, 'the new backtest could not be read')
    return created
  }
}
