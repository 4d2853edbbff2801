import { orNull } from '@automation/access'
import {
  executionIdOf,
  isUuid,
  type Prisma,
  type WorkspaceDatabase,
  type WorkspaceReads,
} from '@automation/database'
import {
  type ActionResult,
  type PerKey,
  type RuleDefinition,
  Trace,
  type WorkLimits,
} from '@automation/engine'
import { readEvaluatedEvent, type UnstartedRow } from '@automation/history'
import {
  type AddressColumns,
  type Addressee,
  addresseeOf,
  findCollected,
  findQuarantineReason,
} from '@automation/ledger'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { executionResultOf } from '../../acceptance/results.js'
import { refusals } from '../../errors.js'
import type { Evaluate } from '../../evaluation/evaluator.js'
import { Id, refusalResponses, Timestamp } from '../../responses.js'
import { countEmittedEvents } from './count-emitted-events.js'
import { Execution, type ExecutionRow, presentExecutionRow } from './execution-schemas.js'

const Batch = Type.Object(
  {
    endsAt: {
      ...Timestamp,
      description: 'When the execution begins: its conditions of time and its dates are those of this moment',
    },
    eventIds: Type.Array(Id, { description: 'The events that it has so far, in the order of acceptance' }),
  },
  {
    title: 'Batch',
    description: 'The events that the execution acts for, if `perKey.collect` of its rule collects them',
  },
)

const ExplainedExecution = Type.Object(
  {
    ...Execution.properties,
    batch: Type.Optional(Batch),
    trace: Type.Optional(orNull(Trace)),
  },
  { title: 'Execution' },
)

export const executionReadRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.get('/:id', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getExecution',
      summary: 'Get an execution with its progress and the result of each action',
      description:
        '`results` has an entry for each action that has begun, with the error of a failed one. With `explain=true`, `trace` says what each condition compared.',
      params: Type.Object({ id: Id }),
      querystring: Type.Object({
        explain: Type.Optional(
          Type.Boolean({
            description:
              'Add the trace: each condition of the rule and its result. null if the rule was deleted.',
          }),
        ),
      }),
      response: { 200: ExplainedExecution, ...refusalResponses(404) },
    },
    handler: async (request) => {
      const { params, query } = request
      const { reads: database } = request.workspace
      if (!isUuid(params.id)) throw refusals.executionNotFound()
      const { event, execution: row } = await findExecution(database, params.id)
      if (row === null) return presentUnstarted(event)
      const { id: executionId, handlerId: ruleId, status, error } = row
      const results = row.results as unknown as ActionResult[]
      const [shown, batch] = await Promise.all([
        countEmittedEvents(database, row, results),
        findBatch(database, row),
      ])
      return {
        ...presentExecutionRow({ ...row, awaitedType: findAwaitedType(status, results) }),
        ...executionResultOf({ ruleId, executionId, status, error, results: shown }),
        ...(batch && { batch }),
        ...(query.explain === true && {
          trace: await request.readAndEvaluate((evaluate) =>
            explainExecution(database, evaluate, { ...row, results }, workLimits),
          ),
        }),
      }
    },
  })
}

async function findBatch(
  database: Pick<WorkspaceDatabase, 'keyClaim'>,
  { id }: { id: string },
): Promise<Type.Static<typeof Batch> | undefined> {
  const claims = await database.keyClaim.findMany({
    where: { batchId: id },
    orderBy: [{ acceptedAt: 'asc' }, { eventId: 'asc' }],
  })
  const opening = claims.find(({ executionId }) => executionId === id)
  if (!opening?.endsAt) return undefined
  return { endsAt: opening.endsAt.toISOString(), eventIds: claims.map(({ eventId }) => eventId) }
}

/**
 * Finds an execution by its id. Of an event with an addressee that is the event's, until it has a row and after: that of a tick then has an id of its
 * own.
 */
export async function findExecution(
  database: Pick<WorkspaceDatabase, 'event' | 'execution'>,
  id: string,
): Promise<{ event: StoredEvent | null; execution: Prisma.ExecutionGetPayload<object> | null }> {
  // The event first: where it is done, its execution was committed with it and is seen by the question after.
  const event = await database.event.findUnique({ where: { id }, omit: { data: true } })
  const addressee = event && addresseeOf(event)
  const executionId = addressee ? executionIdOf({ id, addressee }, addressee.id) : id
  return { event, execution: await database.execution.findUnique({ where: { id: executionId } }) }
}

type StoredEvent = Omit<Prisma.EventGetPayload<object>, 'data'>

type EventToPresent = Omit<UnstartedRow, keyof AddressColumns> & AddressColumns

/** The execution of an addressee can be presented before it has a row of its own, and without one. */
export function presentUnstarted(event: EventToPresent | null): Execution {
  const addressee = event && addresseeOf(event)
  if (event === null || addressee === null) throw refusals.executionNotFound()
  const status = statusOfUnstarted(event)
  return {
    id: event.id,
    workspaceId: event.workspaceId,
    eventId: event.id,
    eventType: event.type,
    ruleId: addressee.id,
    subscriptionId: addressee.kind === 'subscription' ? addressee.id : null,
    ruleVersion: null,
    status,
    success: status === 'not_matched',
    conditionsPassed: false,
    actionsExecuted: 0,
    dryRun: false,
    results: [],
    error: errorOfUnstarted(event, addressee, status),
    suppressed: null,
    cancelRequested: false,
    startedAt: null,
    dueAt: null,
    waitsFor: null,
    finishedAt: event.doneAt?.toISOString() ?? null,
  }
}

function statusOfUnstarted({ doneAt, quarantined, ruleSetId }: EventToPresent) {
  if (doneAt === null) return 'pending'
  if (quarantined) return 'failed'
  return ruleSetId === null ? 'cancelled' : 'not_matched'
}

function errorOfUnstarted(
  event: EventToPresent,
  { kind }: Addressee,
  status: Execution['status'],
): string | null {
  const reason = findQuarantineReason(event)
  if (reason !== undefined) return `Quarantined: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`
  if (status !== 'cancelled') return null
  return kind === 'subscription' ? 'Subscription not found' : 'Automation rule not found'
}

/** As a list reads it. */
function findAwaitedType(status: string, results: readonly ActionResult[]): string | null {
  const wait = results.find((result) => result?.action === 'WAIT' && result.status === 'scheduled')
  return status === 'waiting' && wait ? (wait.waitsFor?.eventType ?? '') : null
}

/** Nothing of it is stored: the version, the data and the time are there, and the engine evaluates them as it did then. */
async function explainExecution(
  database: WorkspaceReads,
  evaluate: Evaluate,
  {
    id,
    workspaceId,
    handlerId: ruleId,
    ruleVersion: version,
    eventId,
    results,
  }: Pick<ExecutionRow, 'id' | 'workspaceId' | 'handlerId' | 'ruleVersion' | 'eventId'> & {
    results: ActionResult[]
  },
  limits: WorkLimits,
): Promise<Trace | null> {
  const [definition, event] = await Promise.all([
    database.ruleVersion.findUnique({ where: { ruleId_version: { ruleId, version } } }),
    readEvaluatedEvent(database, workspaceId, eventId),
  ])
  if (definition === null || event === undefined) return null
  const { conditions, actions, perKey } = definition as unknown as RuleDefinition & { perKey: PerKey | null }
  const collected = perKey?.collect && (await findCollected(database, { workspaceId, executionId: id }))
  // null where it does not compile: it did not then either, and the execution's own error says so.
  return evaluate('explain', {
    definition: { conditions, actions, ...(perKey && { perKey }) },
    data: event.data,
    collected,
    now: collected?.endsAt ?? event.acceptedAt.getTime(),
    limits,
    results,
  })
}
