import { isUuid } from '@automation/database'
import {
  type DefinitionToCheck,
  type Fault,
  findRuleFaults,
  normaliseRule,
  pickToCheck,
  type RuleDefinition,
  usesPatterns,
} from '@automation/engine'
import { findRuleBodyFaults, listOwnNames } from '@automation/rules'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'
import { bodyFaults } from '../../plugins/validation.js'

/** A larger body takes up to 70 ms to check, also without patterns: it may have 20,000 texts. */
const maxLengthCheckedHere = 32_768

/**
 * Checks the body of a rule, and returns it with the full names of operators. Its route has `attachValidation`, so that the faults
 * of its shape are reported together with those of its patterns, placeholders and limits.
 *
 * @param isPart the fields that it lacks stay as they are
 * @throws refusals: 422 with every fault, then 400 for an unknown trigger
 */
export async function checkRuleOfRequest<Body extends { trigger?: string } & Partial<RuleDefinition>>(
  request: FastifyRequest,
  body: Body,
  isPart = false,
): Promise<Body> {
  const shapeFaults = bodyFaults(request.validationError ?? {})
  const { faults, unknownTrigger } = findRuleBodyFaults(
    body,
    shapeFaults,
    await findFaults(request, body),
    await readOwnTypes(request, body),
    isPart,
  )
  if (faults.length > 0) throw refusals.invalid(unknownTrigger ? [...faults, unknownTrigger] : faults)
  if (unknownTrigger) throw await refuseTrigger(request, body.trigger, 'trigger')
  return { ...body, ...normaliseRule(body) }
}

/** @returns the refusal of a trigger that is no type of the workspace */
export function refuseTrigger({ server, workspace }: FastifyRequest, trigger: unknown, field: string) {
  return server.eventTypes.refusalOf(workspace.id, String(trigger), field)
}

const none: ReadonlySet<string> = new Set()

/** Most rules name types of the catalogue alone. */
export async function readOwnTypes(
  { server, workspace }: FastifyRequest,
  body: object,
): Promise<ReadonlySet<string>> {
  return listOwnNames(body).length === 0 ? none : server.eventTypes.readOwn(workspace.id)
}

/** The faults of a definition. */
export async function findFaults(request: FastifyRequest, body: DefinitionToCheck): Promise<Fault[]> {
  const definition = pickToCheck(body)
  return isCheapToCheck(request, definition)
    ? findRuleFaults(definition)
    : request.evaluate('findFaults', definition)
}

/** Whether findRuleFaults takes milliseconds. To compile patterns may take a second, so that is left to the child process. */
export function isCheapToCheck({ bodyLength }: FastifyRequest, definition: DefinitionToCheck): boolean {
  return bodyLength <= maxLengthCheckedHere && !usesPatterns(definition)
}

export function refuseFaults(faults: Fault[]): void {
  if (faults.length > 0) throw refusals.invalid(faults)
}

/** The id in a path. No rule has an id that is no UUID. */
export function ruleId({ id }: { id: string }): string {
  if (!isUuid(id)) throw refusals.ruleNotFound()
  return id
}
