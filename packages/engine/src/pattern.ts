import { RE2JS, RE2JSException } from 're2js'

export const maxPatternLength = 1000
export const maxSubjectLength = 100_000

// Matching costs at most text length times program size: `[ab]{900}c` is short to write and takes a second to run.
const maxProgramSize = 500

/** Compiles an RE2 pattern into an unanchored search in linear time. Throws where findPatternFault finds a fault. */
export function compilePattern(pattern: string): (subject: unknown) => boolean {
  const compiled = RE2JS.compile(pattern)
  return (subject) =>
    typeof subject === 'string' && subject.length <= maxSubjectLength && compiled.test(subject)
}

/** Says what is wrong with a pattern: its syntax, what RE2 does not know (lookaround, backreferences), or its size. */
export function findPatternFault(pattern: string): string | undefined {
  try {
    if (RE2JS.compile(pattern).programSize() <= maxProgramSize) return undefined
    return 'must be a smaller pattern'
  } catch (error) {
    return `must be an RE2 pattern (${error instanceof RE2JSException ? error.message : 'it does not compile'})`
  }
}
