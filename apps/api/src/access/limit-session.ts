import type { LiveSession } from '@automation/access'
import { isUuid } from '@automation/database'
import { type GrantedDefinition, refuseForbidden, refuseOtherNames } from '@automation/rules'
import type { FastifyRequest } from 'fastify'
import { type Refusal, refusals } from '../errors.js'
import { type EmbedOperation, embedOperations, type Reach, type Target } from './embed-operations.js'
import {
  findReachedRow,
  isSubscription,
  readDefinition,
  readDraft,
  readTriggered,
  readVersion,
} from './reached-rows.js'

/** Why a session may not call the operation of a request at all; undefined where it may. */
export function findSessionRefusal(
  { routeOptions }: FastifyRequest,
  { grant }: LiveSession,
): Refusal | undefined {
  const operation = operationOf(routeOptions)
  if (operation === undefined) return refusals.sessionLimited('No embed session includes this operation')
  if (!operation.pages.some((page) => grant.pages.includes(page)))
    return refusals.sessionLimited(
      `The embed session does not include the pages of this operation: ${operation.pages.join(', ')}`,
    )
  if (grant.rule !== undefined && operation.reach === undefined)
    return refusals.sessionLimited('The embed session is limited to one rule, and this operation is not')
  if (operation.publishes && !grant.publish)
    return refusals.sessionLimited('The embed session has publish false: it saves drafts only')
  return undefined
}

/**
 * Keeps the request of a session to its rule and to what it allows, before its body is checked. The writers of rules check what becomes of
 * a rule (packages/rules/src/refuse-beyond-grant.ts); here is what is there already, and all that is read.
 *
 * @throws a 403 refusal
 */
export async function limitSession(request: FastifyRequest, session: LiveSession): Promise<void> {
  const operation = operationOf(request.routeOptions)
  if (operation === undefined) throw refusals.sessionLimited('No embed session includes this operation')
  await refuseDeliveries(request)
  if (session.grant.rule !== undefined)
    await keepToRule(request, session, session.grant.rule, operation.reach ?? 'nothing')
  if (operation.runsInactive && !session.grant.publish && !isDryRun(request.body))
    await refuseInactive(request, operation.target)
  if (session.grant.allow !== undefined && operation.target !== undefined && !isDryRun(request.body))
    await refuseForeign(request, session, operation.target)
}

function operationOf({ schema }: FastifyRequest['routeOptions']): EmbedOperation | undefined {
  const { operationId = '' } = (schema ?? {}) as { operationId?: string }
  return Object.hasOwn(embedOperations, operationId) ? embedOperations[operationId] : undefined
}

/** What goes to the subscriptions of a workspace is on no page: neither by a filter nor by its id. */
async function refuseDeliveries(request: FastifyRequest): Promise<void> {
  const query = request.query as Record<string, unknown>
  const { ruleId, eventType, eventId } = query
  for (const name of ['ruleId', 'eventType', 'eventId', 'subscriptionId'])
    if (query[name] !== undefined && typeof query[name] !== 'string')
      throw refusals.badRequest(`Query parameter ${name} must be given once`)
  // Types of the service's own events have a dot, those of a workspace never.
  const isAsked =
    query.subscriptionId !== undefined ||
    (typeof eventType === 'string' && eventType.includes('.')) ||
    (isUuid(ruleId) && (await isSubscription(request, ruleId))) ||
    (isUuid(eventId) && (await findReachedRow(request, 'event', eventId))?.isDelivery)
  const kind = rowOf(operationOf(request.routeOptions)?.reach)
  const { id } = request.params as { id?: unknown }
  const isNamed = kind !== undefined && isUuid(id) && (await findReachedRow(request, kind, id))?.isDelivery
  if (isAsked || isNamed)
    throw refusals.sessionLimited('No embed session includes deliveries to subscriptions')
}

/** The kind of row that `id` in the path names, of those that may be a delivery. */
function rowOf(reach: Reach | undefined): 'execution' | 'event' | undefined {
  return reach === 'replay' || reach === 'event' || reach === 'explained'
    ? 'event'
    : reach === 'execution'
      ? 'execution'
      : undefined
}

async function keepToRule(
  request: FastifyRequest,
  session: LiveSession,
  rule: string,
  reach: Reach,
): Promise<void> {
  const { trigger } = session
  const query = request.query as Record<string, unknown>
  const params = request.params as Record<string, unknown>
  const body = (typeof request.body === 'object' && request.body !== null ? request.body : {}) as Record<
    string,
    unknown
  >
  switch (reach) {
    case 'nothing':
      return
    case 'rule':
      return refuseUnless(isRule(params.id, rule))
    case 'draft':
      refuseUnless(isRule(params.id, rule))
      return refuseNames(request, session, rule, await readDraft(request, rule))
    case 'ruleId':
      refuseUnless(query.ruleId === undefined || isRule(query.ruleId, rule))
      query.ruleId = rule
      return
    case 'eventType':
      refuseUnless(query.ruleId === undefined || isRule(query.ruleId, rule))
      refuseUnless(trigger !== null && (query.eventType ?? trigger) === trigger)
      query.eventType = trigger
      return
    case 'typeInBody': {
      refuseUnless(trigger !== null)
      for (const name of ['type', 'eventType']) refuseUnless((body[name] ?? trigger) === trigger)
      body.type = trigger
      return
    }
    case 'typeInPath':
      return refuseUnless(trigger !== null && params.name === trigger)
    case 'execution':
    case 'task':
    case 'backtest': {
      const row = isUuid(params.id) ? await findReachedRow(request, reach, params.id) : undefined
      return refuseUnless(row !== undefined && row.ruleId === rule && isOwnTest(row.types, session))
    }
    case 'event':
    case 'explained':
    case 'replay': {
      const row = isUuid(params.id) ? await findReachedRow(request, 'event', params.id) : undefined
      refuseUnless(row !== undefined && row.type === trigger && (row.ruleId ?? rule) === rule)
      refuseUnless(query.ruleId === undefined || isRule(query.ruleId, rule))
      if (reach === 'explained') query.ruleId = rule
      // One that was addressed to the rule goes to it again.
      if (reach === 'replay' && row?.ruleId === null) limitReplay(request, body, rule)
      return
    }
    case 'definition':
      return refuseNames(request, session, rule, body)
    case 'tested':
      refuseUnless(isRule(body.ruleId, rule))
      return refuseNames(request, session, rule, body.definition)
  }
}

/** The rule alone runs for the event. */
function limitReplay(request: FastifyRequest, body: Record<string, unknown>, rule: string): void {
  const named = body.rules ?? [rule]
  refuseUnless(Array.isArray(named) && named.every((id) => isRule(id, rule)))
  request.body = { ...body, rules: [rule] }
}

/** The types of what a backtest has tested, one of which its author may have chosen before. */
function isOwnTest(types: readonly string[] = [], { trigger }: LiveSession): boolean {
  return types.every((type) => type === trigger)
}

/** @param shown a definition as a request brings it: of any shape, which is checked after this */
async function refuseNames(
  request: FastifyRequest,
  { grant }: LiveSession,
  rule: string,
  shown: unknown,
): Promise<void> {
  if (typeof shown !== 'object' || shown === null) return
  const before = await readDefinition(request, rule)
  if (before === undefined) throw refusals.ruleNotFound()
  refuseOtherNames(grant, before, shown as GrantedDefinition)
}

function isRule(id: unknown, rule: string): boolean {
  return typeof id === 'string' && id.toLowerCase() === rule
}

function refuseUnless(isWithin: boolean): void {
  if (!isWithin)
    throw refusals.sessionLimited('The embed session is limited to one rule, and this is not of it')
}

/** Otherwise a session without `publish` would create a rule, and run it by hand; or run again what others have switched off. */
async function refuseInactive(request: FastifyRequest, target: Target | undefined): Promise<void> {
  const { id } = request.params as { id?: unknown }
  if (!isUuid(id)) return
  const kind = target === 'execution' ? 'execution' : target === 'replay' ? 'event' : undefined
  const rule = kind === undefined ? id : (await findReachedRow(request, kind, id))?.ruleId
  if (rule != null && (await readDefinition(request, rule))?.isActive === false)
    throw refusals.sessionLimited(
      'The embed session has publish false, so it executes no rule that is switched off: send a dry run',
    )
}

/** What a request would change or start, and the session is not allowed, also in what others wrote. */
async function refuseForeign(request: FastifyRequest, { grant }: LiveSession, target: Target): Promise<void> {
  for (const definition of await readTargets(request, target))
    if (definition !== undefined) refuseForbidden(grant, definition)
  const type = await typeOfEvent(request, target)
  // Though no rule may have this trigger: the event may end a WAIT.
  if (type !== undefined && grant.allow?.triggers?.includes(type) === false)
    throw refusals.sessionLimited(
      `The embed session does not allow events of the type ${type}: it is not in allow.triggers`,
    )
}

/** The type of the event that a request makes; undefined where it makes none. */
async function typeOfEvent(request: FastifyRequest, target: Target): Promise<string | undefined> {
  if (target === 'event') return typeOfRequest(request)
  const { id } = request.params as { id?: unknown }
  if (target !== 'replay' || !isUuid(id)) return undefined
  return (await findReachedRow(request, 'event', id))?.type
}

async function readTargets(
  request: FastifyRequest,
  target: Target,
): Promise<(GrantedDefinition | undefined)[]> {
  if (target === 'event') return readTriggered(request, typeOfRequest(request))
  const { id } = request.params as { id?: unknown }
  if (!isUuid(id)) return []
  if (target === 'rule') return [await readDefinition(request, id)]
  if (target === 'draft') return [await readDefinition(request, id), await readDraft(request, id)]
  if (target === 'execution') {
    const row = await findReachedRow(request, 'execution', id)
    if (row?.ruleId == null) return []
    // It may go on with the version that it began with.
    return [
      await readDefinition(request, row.ruleId),
      await readVersion(request, row.ruleId, row.version ?? 0),
    ]
  }
  const row = await findReachedRow(request, 'event', id)
  if (row === undefined) return []
  if (row.ruleId !== null) return [await readDefinition(request, row.ruleId)]
  const { rules } = (request.body ?? {}) as { rules?: unknown }
  const chosen = Array.isArray(rules) ? rules.filter(isUuid) : undefined
  return chosen === undefined
    ? readTriggered(request, row.type ?? '')
    : Promise.all(chosen.map((rule) => readDefinition(request, rule)))
}

function typeOfRequest({ params, body }: FastifyRequest): string {
  const { eventType: inPath } = params as { eventType?: string }
  const { eventType, type } = (body ?? {}) as { eventType?: unknown; type?: unknown }
  return inPath ?? String(eventType ?? type ?? '')
}

function isDryRun(body: unknown): boolean {
  return (body as { dryRun?: unknown } | null | undefined)?.dryRun === true
}
