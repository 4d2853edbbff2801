import { DatabaseBusy } from '@automation/database'

/**
 * Makes a function that does one thing after another for each workspace, in the order in which they came. They would wait for
 * the same row anyway; here they do so without holding the connections that everybody else needs.
 *
 * @param patienceMs who has stood in line for longer is told to come again: DatabaseBusy
 */
export function takeTurns(patienceMs: number) {
  /** The end of each workspace's line. */
  const lines = new Map<string, Promise<void>>()

  return <Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result> => {
    const giveUpAt = performance.now() + patienceMs
    const turn = (lines.get(workspaceId) ?? Promise.resolve()).then(() => {
      if (performance.now() > giveUpAt) throw new DatabaseBusy('Others are still changing the workspace')
      return work()
    })
    const leave = () => {
      if (lines.get(workspaceId) === end) lines.delete(workspaceId)
    }
    const end: Promise<void> = turn.then(leave, leave)
    lines.set(workspaceId, end)
    return turn
  }
}
