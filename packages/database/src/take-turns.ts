import { DatabaseBusy } from './database-errors.js'

/**
 * Makes a function that does one thing after another for each key, in the order in which they came, whatever becomes of
 * those before. Who waits so holds no connection, as who waits for a row does.
 *
 * @param patienceMs who has stood in line for longer is told to come again: DatabaseBusy
 */
export function takeTurns(patienceMs = Number.POSITIVE_INFINITY) {
  /** The end of each key's line. */
  const lines = new Map<string, Promise<void>>()

  return <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const giveUpAt = performance.now() + patienceMs
    const turn = (lines.get(key) ?? Promise.resolve()).then(() => {
      if (performance.now() > giveUpAt) throw new DatabaseBusy('Those before took too long')
      return work()
    })
    const leave = () => {
      if (lines.get(key) === end) lines.delete(key)
    }
    const end: Promise<void> = turn.then(leave, leave)
    lines.set(key, end)
    return turn
  }
}
