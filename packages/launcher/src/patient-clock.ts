const stepMs = 25

/**
 * A clock for the upper limits of tests, which stands still while this process gets no core: a busy machine delays everything by seconds, and no
 * product can help it. A lower limit is a matter of `performance.now()`.
 *
 * @returns how long (ms) it has run by now, at most as long as has passed
 */
export function startPatientClock(): () => number {
  let ms = 0
  // Steps that were missed are not made up for.
  setInterval(() => {
    ms += stepMs
  }, stepMs).unref()
  return () => ms
}
