const defaultWaitSeconds = 10
const maxWaitSeconds = 30

export interface Preference {
  /** Milliseconds to wait for the outcome; 0 answers 202 at once. */
  waitMs: number
  /** What to say back in `Preference-Applied`; undefined where nothing was preferred. */
  applied: string | undefined
}

/** RFC 7240: `Prefer: respond-async` and `Prefer: wait=<seconds>`; what is not understood is ignored, as it demands. */
export function readPreference(header: string | string[] | undefined): Preference {
  const wishes = [header ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((wish) => wish.trim().toLowerCase())
  if (wishes.includes('respond-async')) return { waitMs: 0, applied: 'respond-async' }
  const wait = wishes
    .map((wish) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(wish)?.[1])
    .find((seconds) => seconds !== undefined)
  if (wait === undefined) return { waitMs: defaultWaitSeconds * 1_000, applied: undefined }
  const seconds = Math.min(Number(wait), maxWaitSeconds)
  return { waitMs: seconds * 1_000, applied: `wait=${seconds}` }
}
