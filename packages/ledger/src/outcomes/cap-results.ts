import { type ActionResult, type Attempt, cutText } from '@automation/engine'

/** Of one execution, as JSON. Twenty actions with twenty attempts and two hundred placeholders each would otherwise reach megabytes. */
export const maxResultsBytes = 65_536
export const maxErrorLength = 1_000
const mark = '… cut'
const moreWarnings = 'More warnings were cut'

interface Measure {
  /** The last ones of each action. */
  attempts: number
  warnings: number
  /** Of a list in an output. */
  items: number
  /** Of each text, in characters. */
  length: number
}

/** From the mildest to the strictest, which fits for any texts beside ten responses with 4 KiB of captured values each. */
const measures: Measure[] = [
  { attempts: 20, warnings: 20, items: 150, length: 500 },
  { attempts: 20, warnings: 10, items: 10, length: 100 },
  { attempts: 5, warnings: 5, items: 10, length: 200 },
  { attempts: 3, warnings: 3, items: 3, length: 100 },
  { attempts: 1, warnings: 1, items: 1, length: 60 },
  { attempts: 1, warnings: 1, items: 1, length: 20 },
]

/**
 * What is stored of a run: all of it, where it fits. Else texts are cut, and say so, and the oldest attempts are left out. What
 * goes on from it stays: each action's status, its count of failures, its time, its last attempt, and what it captured, which later actions read.
 */
export function capResults(results: ActionResult[]): ActionResult[] {
  if (!results.some(mayBeLarge)) return results
  let capped = results
  for (const measure of measures) {
    if (fits(capped)) return capped
    capped = results.map((result) => capResult(result, measure))
  }
  return capped
}

/** Megabytes are not written as JSON to learn that they are too large: a text has at least as many bytes as characters. */
function fits(results: ActionResult[]): boolean {
  let least = 0
  for (const { error = '', warnings = [], attempts = [] } of results) {
    least += error.length
    for (const warning of warnings) least += warning.length
    for (const attempt of attempts) least += attempt.error?.length ?? 0
  }
  return least <= maxResultsBytes && Buffer.byteLength(JSON.stringify(results)) <= maxResultsBytes
}

/** Of all that a result may hold, these alone can be large. */
export function mayBeLarge({ attempts, warnings, error }: ActionResult): boolean {
  return attempts !== undefined || warnings !== undefined || error !== undefined
}

export function capError(error: string | null): string | null {
  return error === null ? null : shorten(error, maxErrorLength)
}

function capResult(result: ActionResult, measure: Measure): ActionResult {
  const { error, output, warnings, attempts, to } = result
  const capped = { ...result }
  if (error !== undefined) capped.error = shorten(error, measure.length)
  if (output !== undefined) capped.output = cutTexts(output, measure)
  if (to !== undefined) capped.to = cutTexts(to, measure) as string[]
  if (warnings !== undefined) capped.warnings = capWarnings(warnings, measure)
  if (attempts !== undefined)
    capped.attempts = attempts.slice(-measure.attempts).map((attempt) => capAttempt(attempt, measure))
  return capped
}

function capAttempt(attempt: Attempt, measure: Measure): Attempt {
  const capped = { ...attempt }
  if (attempt.error !== undefined) capped.error = shorten(attempt.error, measure.length)
  if (attempt.output !== undefined) capped.output = cutTexts(attempt.output, measure)
  return capped
}

function capWarnings(warnings: string[], { warnings: most, length }: Measure): string[] {
  const kept = warnings.slice(0, most).map((warning) => shorten(warning, length))
  if (warnings.length > most && kept.at(-1) !== moreWarnings) kept.push(moreWarnings)
  return kept
}

/** Of what a call was answered: a flat object of texts, and of lists of them, such as the recipients that were refused. */
function cutTexts(output: unknown, measure: Measure): unknown {
  if (typeof output === 'string') return shorten(output, measure.length)
  if (Array.isArray(output)) return output.slice(0, measure.items).map((item) => cutTexts(item, measure))
  if (typeof output !== 'object' || output === null) return output
  return Object.fromEntries(Object.entries(output).map(([key, value]) => [key, cutTexts(value, measure)]))
}

/** A text that was cut before stays as it is. */
function shorten(text: string, length: number): string {
  return cutText(text, length + mark.length) === text ? text : cutText(text, length, mark)
}
