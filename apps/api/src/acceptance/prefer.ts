import { Type } from 'typebox'

const defaultWaitSeconds = 10
const maxWaitSeconds = 30

export interface Preference {
  /** Milliseconds to wait for the outcome; 0: respond with 202 at once. */
  waitMs: number
  /** The value of `Preference-Applied`; undefined where the request has no preference. */
  applied: string | undefined
}

/** Documents the header of a route that can wait for an outcome. */
export const PreferHeader = Type.Object({
  Prefer: Type.Optional(
    Type.String({
      description: `\`respond-async\`: respond with 202 immediately. \`wait=<seconds>\`: wait up to this long for the outcome, at most ${maxWaitSeconds}.`,
    }),
  ),
})

/** Of a read that responds immediately, unless its caller wants more to be there. */
export const WaitHeader = Type.Object({
  Prefer: Type.Optional(
    Type.String({
      description: `\`wait=<seconds>\`: wait up to this long until no event is left to read, at most ${maxWaitSeconds}. Without it the response is immediate.`,
    }),
  ),
})

const none: Preference = { waitMs: defaultWaitSeconds * 1_000, applied: undefined }

/** Parses `Prefer: respond-async` and `Prefer: wait=<seconds>`. As RFC 7240 requires, unknown preferences are ignored. */
export function readPreference(header: string | string[] | undefined): Preference {
  if (header === undefined) return none
  const preferences = [header]
    .flat()
    .join(',')
    .split(',')
    .map((preference) => preference.trim().toLowerCase())
  if (preferences.includes('respond-async')) return { waitMs: 0, applied: 'respond-async' }
  const wait = preferences
    .map((preference) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(preference)?.[1])
    .find((seconds) => seconds !== undefined)
  if (wait === undefined) return none
  const seconds = Math.min(Number(wait), maxWaitSeconds)
  return { waitMs: seconds * 1_000, applied: `wait=${seconds}` }
}
