/**
 * Does something again and again, a pause after each end; what it throws is told and does not stop it.
 *
 * @returns a function that stops it, and waits for what is under way
 */
export function repeat(
  work: (isStopped: () => boolean) => Promise<void>,
  pauseMs: number,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> = Promise.resolve()
  let isStopped = false
  schedule()

  return {
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await working
    },
  }

  function schedule(): void {
    timer = setTimeout(() => {
      working = work(() => isStopped)
        .catch(onError)
        .finally(() => {
          if (!isStopped) schedule()
        })
    }, pauseMs)
  }
}
