/**
 * Repeats a function, with a pause after each end. An error is passed to `onError`, and the repetition continues.
 *
 * @returns `stop`, which ends the repetition and waits for the call that is under way
 */
export function repeat(
  work: (isStopped: () => boolean) => Promise<void>,
  pauseMs: number,
  onError: (error: unknown) => void,
  firstPauseMs = pauseMs,
): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()
  let isStopped = false
  schedule(firstPauseMs)

  return {
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await working
    },
  }

  function schedule(afterMs = pauseMs): void {
    timer = setTimeout(() => {
      working = work(() => isStopped)
        .catch(onError)
        .finally(() => {
          if (!isStopped) schedule()
        })
    }, afterMs)
  }
}
