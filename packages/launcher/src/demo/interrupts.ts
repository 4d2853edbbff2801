/**
 * The first Ctrl-C stops everything in order, a second one at once: when this process exits, its children end with it.
 * Under `npm start` each Ctrl-C arrives twice, from the terminal and from npm, so a second signal within a second counts
 * as the first one.
 */
export function listenToInterrupts(): AbortSignal {
  const controller = new AbortController()
  let firstAt = 0
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!controller.signal.aborted) {
        firstAt = performance.now()
        controller.abort()
      } else if (performance.now() - firstAt > 1_000) process.exit(130)
    })
  }
  return controller.signal
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}
