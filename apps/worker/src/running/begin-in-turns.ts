import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Execution, sliceUnits } from './execution.js'

/** How many executions begin in one turn of the event loop at most, each with up to 20 actions. */
const beginAtOnce = 25
/** To write a byte of a task or an event costs as much as so many units. */
const unitsPerByte = 0.1

/**
 * Begins the executions of one event: as many in each turn of the event loop as a slice of time has room for.
 *
 * @param onTurn is called before each further turn
 * @returns undefined where all have begun: no other event of the workspace begins before this one is charged
 */
export function beginInTurns(
  executions: Execution[],
  begin: (execution: Execution) => void,
  onTurn: () => void,
): Promise<void> | undefined {
  let spent = 0
  for (const [index, execution] of executions.entries()) {
    if (index === beginAtOnce || spent > sliceUnits) {
      onTurn()
      return nextTurn().then(() => beginInTurns(executions.slice(index), begin, onTurn))
    }
    const before = unitsOf(execution)
    begin(execution)
    spent += unitsOf(execution) - before
  }
  return undefined
}

/** What the executions of its event have cost so far. */
function unitsOf({ judging, budget }: Execution): number {
  return judging.spent + budget.bytes * unitsPerByte
}
