import { type WorkBounds, WorkBudget } from '@automation/engine'

/** What one question may cost. */
export interface Bounds {
  bounds: WorkBounds
}

/** The result of a question that cannot be answered in part: which bound it exceeded. */
export interface Overrun {
  overrun: keyof WorkBounds | 'bytes'
}

/**
 * Of a response that the child process writes. A caller who does not read keeps it in the memory of the API for half a minute, and asks sixty times a
 * minute.
 */
export const maxResponseMib = 4
export const maxResponseBytes = maxResponseMib * 1_048_576

/** Opens the budget to which all work of the question is charged. Its time begins now. */
export function openBudget({ bounds }: Bounds): WorkBudget {
  return new WorkBudget(bounds, () => performance.now())
}

/** Looks at the clock, too. @returns undefined where something is left */
export function findOverrun(budget: WorkBudget): Overrun | undefined {
  return budget.isOver && budget.overrun !== null ? { overrun: budget.overrun } : undefined
}

export function isOverrun(result: unknown): result is Overrun {
  return typeof result === 'object' && result !== null && 'overrun' in result
}
