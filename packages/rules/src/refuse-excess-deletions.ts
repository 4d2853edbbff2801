import { Refused } from '@automation/access'
import type { Changes, ImportPlan } from './plan-import.js'

/** Of the rules, or of the email templates: an import that deletes a larger part has to name the number of its deletions. */
const usualPart = 1 / 3

/** How much a plan deletes, and whether that is more than usual. */
export function countDeletions({ rules, emailTemplates }: ImportPlan): {
  deletions: number
  isMany: boolean
} {
  const kinds = [rules, emailTemplates]
  return {
    deletions: kinds.reduce((sum, { toDelete }) => sum + toDelete.length, 0),
    isMany: kinds.some((changes) => changes.toDelete.length > countRows(changes) * usualPart),
  }
}

/**
 * Refuses a plan that deletes more than a third of the rules or of the email templates: a file that was cut short, or that belongs
 * to another workspace, would delete everything that it lacks, and nobody can restore it.
 *
 * @param maxDeletions the number that the user allows
 * @param option how the user allows it
 * @throws Refused
 */
export function refuseExcessDeletions(
  plan: ImportPlan,
  maxDeletions: number | undefined,
  option = '--max-deletions',
): void {
  const { deletions, isMany } = countDeletions(plan)
  if (maxDeletions === undefined ? !isMany : deletions <= maxDeletions) return
  const allowed =
    maxDeletions === undefined
      ? 'more than a third of the rules or of the email templates'
      : `more than ${maxDeletions}`
  throw new Refused(
    'limit_reached',
    `The import would delete ${deletions}, ${allowed}, and nothing was applied. If that is intended, use ${option} ${deletions}`,
  )
}

function countRows({ toChange, toDelete, unchanged, others }: Changes<unknown, unknown>): number {
  return toChange.length + toDelete.length + unchanged.length + others.length
}
