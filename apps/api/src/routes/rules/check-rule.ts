import { isUuid } from '@automation/database'
import { type Fault, normaliseRule, type RuleDefinition } from '@automation/engine'
import { findRuleBodyFaults } from '@automation/rules'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../../errors.js'
import { bodyFaults } from '../../plugins/validation.js'

/**
 * Checks the body of a rule, and returns it with the full names of operators. Its route has `attachValidation`, so that the faults
 * of its shape are reported together with those of its patterns, placeholders and limits.
 *
 * @throws refusals: 422 with every fault, then 400 for an unknown trigger
 */
export function checkRule<Body extends { trigger?: string } & Partial<RuleDefinition>>(
  body: Body,
  shapeError: FastifyRequest['validationError'],
): Body {
  const { faults, unknownTrigger } = findRuleBodyFaults(body, bodyFaults(shapeError ?? {}))
  refuseFaults(faults)
  if (unknownTrigger) throw refusals.invalidTriggerType()
  return { ...body, ...normaliseRule(body) }
}

export function refuseFaults(faults: Fault[]): void {
  if (faults.length > 0) throw refusals.invalid(faults)
}

/** The id in a path. No rule has an id that is no UUID. */
export function ruleId({ id }: { id: string }): string {
  if (!isUuid(id)) throw refusals.ruleNotFound()
  return id
}
