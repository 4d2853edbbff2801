import { isLongNumber } from '../values/decimal.js'

/** A double keeps fifteen digits, whatever they are. */
export const shortestLong = 16

const [quote, minus, zero, nine, upperE, lowerE] = ['"', '-', '0', '9', 'E', 'e'].map((one) =>
  one.charCodeAt(0),
) as [number, number, number, number, number, number]
const opening = new Set(['[', '{'].map((one) => one.charCodeAt(0)))
const closing = new Set([']', '}'].map((one) => one.charCodeAt(0)))
const ofNumbers = new Set([...'0123456789.eE+-'].map((one) => one.charCodeAt(0)))

export interface ScannedJson {
  /** The same JSON with a text for each number whose digits a double cannot keep. */
  exact: string
  /** How deep lists and objects are within one another. */
  depth: number
  /** How many numbers were compared with their doubles, which takes a microsecond each. Beyond a limit they stay numbers. */
  compared: number
}

/**
 * Reads JSON once, character by character, so that its cost is known.
 *
 * @param maxCompared so many numbers are compared with their doubles
 */
export function scanJson(json: string, maxCompared = Number.POSITIVE_INFINITY): ScannedJson {
  let compared = 0
  let exact = ''
  let copied = 0
  let depth = 0
  let deepest = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = findTextEnd(json, at)
    else if (opening.has(code)) deepest = Math.max(deepest, ++depth)
    else if (closing.has(code)) depth--
    else if (code === minus || (code >= zero && code <= nine)) {
      const end = findNumberEnd(json, at)
      if (mayBeLong(json, at, end) && ++compared <= maxCompared && isLongNumber(json.slice(at, end))) {
        exact += `${json.slice(copied, at)}"${json.slice(at, end)}"`
        copied = end
      }
      at = end - 1
    }
  }
  return { exact: copied === 0 ? json : exact + json.slice(copied), depth: deepest, compared }
}

/** The closing quote: one with an even number of backslashes before it. */
export function findTextEnd(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end >= 0) {
    let slash = end
    while (json[slash - 1] === '\\') slash--
    if ((end - slash) % 2 === 0) return end
    end = json.indexOf('"', end + 1)
  }
  return json.length
}

function findNumberEnd(json: string, start: number): number {
  let end = start + 1
  while (ofNumbers.has(json.charCodeAt(end))) end++
  return end
}

/** A short one only with an exponent: the smallest doubles have few digits. */
function mayBeLong(json: string, start: number, end: number): boolean {
  if (end - start >= shortestLong) return true
  for (let at = start; at < end; at++) {
    const code = json.charCodeAt(at)
    if (code === lowerE || code === upperE) return Math.abs(Number(json.slice(start, end))) < leastNormal
  }
  return false
}

/** Of the doubles with all their digits. */
const leastNormal = 2 ** -1022
