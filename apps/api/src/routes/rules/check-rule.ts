import { isUuid } from '@automation/database'
import { findRuleFaults, isEventType, normaliseRule, type RuleDefinition } from '@automation/engine'
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
  const faults = [...bodyFaults(shapeError ?? {}), ...findRuleFaults(body)]
  if (faults.length > 0) throw refusals.invalid(faults)
  if (body.trigger !== undefined && !isEventType(body.trigger)) throw refusals.invalidTriggerType()
  return { ...body, ...normaliseRule(body) }
}

/** An id that is no UUID is an id that no rule has. */
export function ruleId({ id }: { id: string }): string {
  if (!isUuid(id)) throw refusals.ruleNotFound()
  return id
}
