import { isOutOfMemory, isRowFault, isTooLarge } from '@automation/database'
import { type ActionResult, isOpen } from '@automation/engine'
import { heavyRows } from './cost.js'
import { type Execution, end } from './execution.js'

/**
 * Whether an outcome or a step, which stood alone in its statement, can never be stored: no other attempt would help. Where Postgres has no
 * memory left for a light one, that is not its fault.
 */
export function isRefused(error: unknown, rows: number): boolean {
  if (isOutOfMemory(error)) return rows > heavyRows
  return isRowFault(error) || isTooLarge(error)
}

/** An outcome whose executions have all failed, and that can nevertheless never be stored. Its message says why. */
export class OutcomeRefused extends Error {
  constructor(cause: unknown) {
    super(describe(cause), { cause })
  }
}

function describe(error: unknown): string {
  return isRowFault(error) ? 'the database refused it' : 'it is too large'
}

/** Whether an execution writes rows of its own, which Postgres may refuse. */
export function writesRows({ tasks, emitted }: Execution): boolean {
  return tasks.length + emitted.length > 0
}

/**
 * Ends an execution whose outcome or step was refused. Its new tasks and emitted events, and the intent of its next call, do not exist: these
 * actions have failed, and start again when it is retried by hand. Calls that were made stay in its journal.
 */
export function failRefused(execution: Execution, error: unknown): void {
  const { record, tasks, emitted, budget } = execution
  const reason = `What the rule did could not be stored: ${describe(error)}`
  const lost = new Set([...tasks, ...emitted].map(({ actionIndex }) => actionIndex))
  record.results = record.results.map((result, index) =>
    lost.has(index) || isOpen(result) ? failResult(result, reason) : result,
  )
  end(record, 'failed', reason)
  record.awaitsSlot = false
  budget.refund(emitted.length)
  Object.assign(execution, { tasks: [], emitted: [], effectBytes: 0 })
}

/** The intent of a call was refused, so this call was not made. One before it, under which a worker ended, may have been. */
function failResult(result: ActionResult, error: string): ActionResult {
  const attempts = result.attempts?.filter(({ finishedAt, error }) => (finishedAt ?? error) !== undefined)
  const last = attempts?.at(-1)
  const status = last && last.finishedAt === undefined ? 'unknown' : 'failed'
  return { ...result, status, error, output: undefined, ...(attempts && { attempts }) }
}
