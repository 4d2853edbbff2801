import { type Fault, type LongNumber, listLongWarnings } from '@automation/engine'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The text of the body, if it brings no events, or if a number of it may have more digits than a double keeps; from the check of the body on
     * undefined.
     */
    bodyText: string | undefined
    /** The numbers of the body that have more digits than a double keeps; undefined if there are none. */
    longNumbers: LongNumber[] | undefined
  }
}

/** Paths of what the service takes as it is and does not compare: data of events, and variables of mails. */
const dataPath = /^(?:events\[\d+\]\.)?(?:data|variables)(?:[.[]|$)/

const maxWarnings = 20

/** Whether a long number there becomes a text. A constant of a rule does not: it would equal no number any more. */
export function takesText(field: string): boolean {
  return dataPath.test(field)
}

/**
 * The long numbers that became texts, for the response. undefined if there are none.
 *
 * @param root of the paths that are listed
 */
export function warnOfTexts(longNumbers: LongNumber[] = [], root = ''): { warnings: Fault[] } | undefined {
  const warnings = listLongWarnings(longNumbers.filter(({ field }) => field.startsWith(root)))
  if (warnings.length === 0) return undefined
  const rest = { field: '', message: `Only the first ${maxWarnings} warnings are listed` }
  return { warnings: warnings.length > maxWarnings ? [...warnings.slice(0, maxWarnings), rest] : warnings }
}
