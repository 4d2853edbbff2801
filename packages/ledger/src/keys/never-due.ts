/** When an execution that waits for its key is due: no time ends it. */
export const neverDue = new Date(Date.UTC(9_999, 0))

/** Whether an execution waits until the others of its key have ended. */
export function waitsForKey({ dueAt }: { dueAt: Date | null }): boolean {
  return dueAt?.getTime() === neverDue.getTime()
}
