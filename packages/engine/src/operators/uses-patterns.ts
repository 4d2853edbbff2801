import { findOperator } from './index.js'

/** Whether a clause has a pattern: to compile those may take a second, all else of a rule milliseconds. Takes any shape. Never throws. */
export function usesPatterns({ conditions, actions }: { conditions?: unknown; actions?: unknown }): boolean {
  return asList(conditions).some(hasPattern) || asList(actions).some(isActionWithPattern)
}

function isActionWithPattern(action: unknown): boolean {
  const { when, config } = asObject(action)
  return hasPattern(when) || asList(asObject(config).where).some(hasPattern)
}

function hasPattern(condition: unknown): boolean {
  const { all, any, not, that, operator } = asObject(condition)
  if (typeof operator === 'string' && findOperator(operator)?.patternSteps !== undefined) return true
  return (
    [...asList(all), ...asList(any), ...asList(that)].some(hasPattern) ||
    (not !== undefined && hasPattern(not))
  )
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
