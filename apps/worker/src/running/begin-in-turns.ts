import { type Execution, sliceUnits } from './execution.js'

/** How many executions begin in one turn of the event loop at most, each with up to 20 actions. */
const beginAtOnce = 25
/** To write a byte of a task or an event costs as much as so many units. */
const unitsPerByte = 0.1

/**
 * Begins the executions of one event: as many in each turn of the event loop as a slice of time has room for.
 *
 * @param giveWay lets others have the event loop after a turn that took so long (ms)
 * @returns undefined where all have begun: no other event of the workspace begins before this one is charged
 */
export function beginInTurns(
  executions: Execution[],
  begin: (execution: Execution) => void,
  giveWay: (tookMs: number) => Promise<void>,
): Promise<void> | undefined {
  const begunAt = performance.now()
  let spent = 0
  for (const [index, execution] of executions.entries()) {
    if (index === beginAtOnce || spent > sliceUnits)
      return giveWay(performance.now() - begunAt).then(() =>
        beginInTurns(executions.slice(index), begin, giveWay),
      )
    const before = unitsOf(execution)
    begin(execution)
    spent += unitsOf(execution) - before
  }
  return undefined
}

/** What the executions of its event have cost so far. */
function unitsOf({ evaluation, budget }: Execution): number {
  return evaluation.spent + budget.bytes * unitsPerByte
}
