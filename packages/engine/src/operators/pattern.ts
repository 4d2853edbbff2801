import { LRUCache } from 'lru-cache'
import { RE2JS, RE2JSException } from 're2js'
import type { Evaluation } from '../work/evaluation.js'

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
  dispose: (pattern, _text, reason) => {
    if (reason === 'evict') pattern.discard()
  },
})

/** An RE2 pattern: an unanchored search in linear time, whose work is charged to the evaluation. */
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

  test(subject: string, evaluation: Evaluation): boolean {
    if (!evaluation.affords(0)) return false
    const compiled = this.#find() ?? this.#compileAgain(evaluation)
    if (compiled === undefined) return false
    const worst = this.steps * subject.length
    if (!evaluation.has(worst)) return this.#testInParts(compiled, subject, evaluation)
    const meter = new Meter(compiled, this.steps)
    const found = compiled.test(subject)
    evaluation.charge(Math.min(worst, meter.read(subject.length)))
    if (meter.hasBuilt) this.#keep(compiled)
    return found
  }

  /** A text that could cost more than is left: it is charged while it is read, and given up where the work is used up. */
  #testInParts(compiled: RE2JS, subject: string, evaluation: Evaluation): boolean {
    const meter = new Meter(compiled, this.steps)
    const text = new MeteredText(subject, (characters) => {
      // What was read has been work, whether or not there was as much left.
      evaluation.charge(meter.read(characters))
      if (!evaluation.affords(0)) throw new OutOfWork()
    })
    try {
      return inputOf(compiled).match(text)
    } catch (error) {
      if (error instanceof OutOfWork) return false
      throw error
    } finally {
      this.#keep(compiled)
    }
  }

  /** Counts as a use. Takes over what another pattern of the same text has compiled again. */
  #find(): RE2JS | undefined {
    const kept = patterns.get(this.#text)
    if (this.#compiled === undefined && kept !== undefined && kept.#compiled !== undefined) {
      this.#compiled = kept.#compiled
      this.#keep(this.#compiled)
    }
    return this.#compiled
  }

  /** @returns undefined where the work that is left does not reach */
  #compileAgain(evaluation: Evaluation): RE2JS | undefined {
    return evaluation.spend(this.size * stepsPerCompilation) ? this.#compile() : undefined
  }

  #compile(): RE2JS {
    const compiled = RE2JS.compile(this.#text)
    const automaton = automatonOf(compiled)
    automaton.stateBudget = maxStateBytes
    automaton.memBudget = maxStateBytes
    this.#compiled = compiled
    this.#keep(compiled)
    return compiled
  }

  #keep(compiled: RE2JS): void {
    const { stateBudget, memBudget } = automatonOf(compiled)
    const size = compiled.programSize() * bytesPerInstruction + (stateBudget - memBudget)
    const known = patterns.peek(this.#text)
    if (known !== this) known?.discard()
    // Where the value stays the same, the cache would keep the size that it has.
    patterns.delete(this.#text)
    patterns.set(this.#text, this, { size })
  }
}

/** Reads from the automaton of a pattern what a search has cost. */
class Meter {
  readonly #automaton: Automaton
  readonly #steps: number
  /** A pattern that is anchored and deterministic is run step by step, without an automaton. */
  readonly #isStepwise: boolean
  #stateCount: number
  hasBuilt = false

  constructor(compiled: RE2JS, steps: number) {
    this.#automaton = automatonOf(compiled)
    this.#steps = steps
    this.#isStepwise = inputOf(compiled).onepass !== null
    this.#stateCount = this.#automaton.stateCount
  }

  /** @returns the work since the last reading, in which so many characters were read */
  read(characters: number): number {
    const { stateCount, startStates } = this.#automaton
    const built = stateCount - this.#stateCount
    this.#stateCount = stateCount
    if (built !== 0) this.hasBuilt = true
    // The states were discarded: whether there are states again, or the search goes on without, nothing says.
    const isDiscarded = built < 0 || (stateCount > 0 && startStates.size === 0)
    if (this.#isStepwise || isDiscarded) return characters * this.#steps
    // A character without a new state was one look into a table.
    return characters + built * this.#steps * stepsPerState
  }
}

class OutOfWork extends Error {}

const charactersPerReading = 256

/** A text that reports how often its characters are read. */
class MeteredText extends String {
  readonly #onRead: (characters: number) => void
  #unreported = 0

  constructor(text: string, onRead: (characters: number) => void) {
    super(text)
    this.#onRead = onRead
  }

  override charCodeAt(index: number): number {
    if (++this.#unreported === charactersPerReading) {
      this.#unreported = 0
      this.#onRead(charactersPerReading)
    }
    return super.charCodeAt(index)
  }
}

interface Input {
  dfa: Automaton
  onepass: object | null
  match(text: MeteredText): boolean
}

function inputOf(compiled: RE2JS): Input {
  return (compiled as unknown as { re2Input: Input }).re2Input
}

function automatonOf(compiled: RE2JS): Automaton {
  return inputOf(compiled).dfa
}

function loadPattern(text: string): Pattern {
  return patterns.get(text) ?? new Pattern(text)
}

/** Compiles an RE2 pattern. @throws where findPatternFault finds a fault */
export function compilePattern(text: string): (subject: unknown, evaluation: Evaluation) => boolean {
  const pattern = loadPattern(text)
  return (subject, evaluation) =>
    typeof subject === 'string' && subject.length <= maxSubjectLength && pattern.test(subject, evaluation)
}

/** How much work one character may be for this pattern, which may be too large; 0 for what is no pattern. */
export function patternSteps(pattern: string): number {
  try {
    return loadPattern(pattern).steps
  } catch {
    return 0
  }
}

/** Finds the fault in a pattern: its syntax, a feature that RE2 lacks (lookaround, backreferences), or its size. */
export function findPatternFault(pattern: string): string | undefined {
  try {
    if (loadPattern(pattern).size <= maxProgramSize) return undefined
    return 'must be a smaller pattern'
  } catch (error) {
    return `must be a regular expression in RE2 syntax (${error instanceof RE2JSException ? error.message : 'it does not compile'})`
  }
}
