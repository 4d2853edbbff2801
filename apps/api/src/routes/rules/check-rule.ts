import { isUuid } from '@automation/database'
import {
  type Fault,
  findRuleFaults,
  isEventType,
  normaliseRule,
  type RuleDefinition,
} from '@automation/engine'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'
import { bodyFaults } from '../../plugins/validation.js'

/**
 * Answers the body of a rule that may be saved, operators under their full names. Its route has `attachValidation`,
 * so that the faults of its shape and of its meaning (patterns, placeholders, limits) are told together.
 *
 * @throws refusals: 422 with every fault, then 400 for an unknown trigger
 */
export function checkRule<Body extends { trigger?: string } & Partial<RuleDefinition>>(
  body: Body,
  shapeError: FastifyRequest['validationError'],
): Body {
  refuseFaults([...bodyFaults(shapeError ?? {}), ...findRuleFaults(body)])
  if (body.trigger !== undefined && !isEventType(body.trigger)) throw refusals.invalidTriggerType()
  return { ...body, ...normaliseRule(body) }
}

export function refuseFaults(faults: Fault[]): void {
  if (faults.length > 0) throw refusals.invalid(faults)
}

/** An id that is no UUID is an id that no rule has. */
export function ruleId({ id }: { id: string }): string {
  if (!isUuid(id)) throw refusals.ruleNotFound()
  return id
}
