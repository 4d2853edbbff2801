import { Refused } from '@automation/access'
import type { Changes, ImportPlan } from './plan-import.js'

/** Of the rules, or of the email templates: an import that deletes a larger part has to name the number of its deletions. */
const usualPart = 1 / 3

/**
 * Refuses a plan that deletes more than a third of the rules or of the email templates: a file that was cut short, or that belongs
 * to another workspace, would delete everything that it lacks, and nobody can restore it.
 *
 * @param maxDeletions the number that the user allows
 * @throws Refused
 */
export function refuseExcessDeletions(
  { rules, emailTemplates }: ImportPlan,
  maxDeletions: number | undefined,
): void {
  const kinds = [rules, emailTemplates]
  const deletions = kinds.reduce((sum, { toDelete }) => sum + toDelete.length, 0)
  const isMany = kinds.some((changes) => changes.toDelete.length > countRows(changes) * usualPart)
  if (maxDeletions === undefined ? !isMany : deletions <= maxDeletions) return
  const allowed =
    maxDeletions === undefined
      ? 'more than a third of the rules or of the email templates'
      : `more than ${maxDeletions}`
  throw new Refused(
    'limit_reached',
    `The import would delete ${deletions}, ${allowed}, and nothing was applied. If that is intended, use maxDeletions ${deletions}`,
  )
}

function countRows({ toChange, toDelete, unchanged, others }: Changes<unknown, unknown>): number {
  return toChange.length + toDelete.length + unchanged.length + others.length
}
