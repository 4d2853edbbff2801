import { LRUCache } from 'lru-cache'
import { RE2JS, RE2JSException } from 're2js'
import type { Judging } from './judging.js'

export const maxPatternLength = 1000
export const maxSubjectLength = 100_000

// Matching costs at most text length times program size: `[ab]{900}c` is a short pattern that takes a second.
const maxProgramSize = 500
/** What the states of one pattern may take: re2js itself would allow 8 MiB, and takes longer to fill them than to do without. */
const maxStateBytes = 262_144
/** What all compiled patterns of this process may take together. */
const maxBytes = 67_108_864
const bytesPerInstruction = 100
/** To build one state takes about as long as this many steps for each instruction. */
const stepsPerState = 8
/** To compile an instruction takes about as long as this many steps. */
const stepsPerCompilation = 100
/** A class of Unicode letters has hundreds of ranges, and each step searches them. */
const stepsPerUnicodeClass = 3

/** The parts of re2js that this relies on: the automaton that a pattern builds from the texts that it meets. */
interface Automaton {
  stateCount: number
  /** Cleared whenever the states are discarded, until the next search. */
  startStates: Map<unknown, unknown>
  stateBudget: number
  memBudget: number
}

/** Patterns by their text. One that is discarded compiles again when it is needed. */
const patterns = new LRUCache<string, Pattern>({
  maxSize: maxBytes,
  dispose: (pattern, _, reason) => {
    if (reason === 'evict') pattern.discard()
  },
})

/** An RE2 pattern: an unanchored search in linear time, whose work is charged to whoever judges. */
class Pattern {
  readonly #text: string
  #compiled: RE2JS | undefined
  /** How much work one character may be. */
  readonly steps: number
  readonly size: number

  /** @throws RE2JSException for what is no RE2 pattern */
  constructor(text: string) {
    this.#text = text
    this.size = this.#compile().programSize()
    this.steps = this.size * (/\\[pP]/.test(text) ? stepsPerUnicodeClass : 1)
  }

  discard(): void {
    this.#compiled = undefined
  }

  test(subject: string, judging: Judging): boolean {
    const compiled = this.#compiled ?? this.#compile(judging)
    const { steps } = this
    const worst = steps * subject.length
    if (!judging.affords(worst)) return false
    const automaton = automatonOf(compiled)
    const { stateCount } = automaton
    const found = compiled.test(subject)
    const built = automaton.stateCount - stateCount
    // Without a new state, each character was one look into a table.
    if (built === 0 && (stateCount === 0 || automaton.startStates.size > 0)) judging.charge(subject.length)
    else {
      const isRebuilt = built < 0 || automaton.startStates.size === 0
      judging.charge(isRebuilt ? worst : Math.min(worst, subject.length + built * steps * stepsPerState))
      this.#keep(compiled)
    }
    return found
  }

  #compile(judging?: Judging): RE2JS {
    const compiled = RE2JS.compile(this.#text)
    const automaton = automatonOf(compiled)
    automaton.stateBudget = maxStateBytes
    automaton.memBudget = maxStateBytes
    judging?.charge(compiled.programSize() * stepsPerCompilation)
    this.#compiled = compiled
    this.#keep(compiled)
    return compiled
  }

  #keep(compiled: RE2JS): void {
    const { stateBudget, memBudget } = automatonOf(compiled)
    const size = compiled.programSize() * bytesPerInstruction + (stateBudget - memBudget)
    patterns.set(this.#text, this, { size })
  }
}

function automatonOf(compiled: RE2JS): Automaton {
  return (compiled as unknown as { re2Input: { dfa: Automaton } }).re2Input.dfa
}

function loadPattern(text: string): Pattern {
  return patterns.get(text) ?? new Pattern(text)
}

/** Compiles an RE2 pattern. @throws where findPatternFault finds a fault */
export function compilePattern(text: string): (subject: unknown, judging: Judging) => boolean {
  const pattern = loadPattern(text)
  return (subject, judging) =>
    typeof subject === 'string' && subject.length <= maxSubjectLength && pattern.test(subject, judging)
}

/** How much work one character may be for this pattern; 0 for what is no pattern. */
export function patternSteps(pattern: string): number {
  return findPatternFault(pattern) === undefined ? loadPattern(pattern).steps : 0
}

/** Finds the fault in a pattern: its syntax, a feature that RE2 lacks (lookaround, backreferences), or its size. */
export function findPatternFault(pattern: string): string | undefined {
  try {
    if (loadPattern(pattern).size <= maxProgramSize) return undefined
    return 'must be a smaller pattern'
  } catch (error) {
    return `must be an RE2 pattern (${error instanceof RE2JSException ? error.message : 'it does not compile'})`
  }
}
