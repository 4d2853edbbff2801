import { OutcomeRefused } from './fail-refused.js'

const faultsOfCode = [TypeError, ReferenceError, RangeError, SyntaxError]

/** Whether an error is a fault of this code. No server, connection or disk gives such an error, whatever its state. */
export function isFaultOfCode(error: unknown): boolean {
  return faultsOfCode.some((kind) => error instanceof kind)
}

/**
 * Why an event fails in every attempt, if it does for what it is.
 *
 * @returns undefined for any other error: the event may succeed later
 */
export function findEventFault(error: unknown): { what: string; why: string } | undefined {
  if (error instanceof OutcomeRefused)
    return { what: 'What it caused could not be stored', why: error.message }
  return isFaultOfCode(error)
    ? { what: 'The service could not process it', why: (error as Error).name }
    : undefined
}
