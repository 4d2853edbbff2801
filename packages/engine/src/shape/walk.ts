import type { Fault } from '../fault.js'
import { cutText } from '../texts/cut-text.js'

/** Checks a value where the walk is. */
export type Check = (value: unknown, walk: Walk) => void

/** The API refuses deeper bodies earlier, in these words. */
const maxDepth = 32

/** To find the nearest of thirty names takes some 50 µs, and a body may have thousands of faults. */
const maxHints = 20

/** One way through a value: the faults that it found, and the path of the value that it is at. */
export class Walk {
  readonly faults: Fault[] = []
  readonly #path: (string | number)[] = []
  readonly #found = new Set<string>()

  enter(key: string | number, value: unknown, check: Check): void {
    this.#path.push(key)
    if (this.#path.length >= maxDepth && typeof value === 'object' && value !== null)
      this.report(`Nested deeper than ${maxDepth} levels`)
    else check(value, this)
    this.#path.pop()
  }

  /**
   * @param hint a second sentence, such as the names that were perhaps meant
   * @param name of the field of this object that the fault is about
   */
  report(message: string, hint?: () => string | undefined, name?: string): void {
    const field = writePath(name === undefined ? this.#path : [...this.#path, name])
    const fault = `${field}\n${message}`
    if (this.#found.has(fault)) return
    this.#found.add(fault)
    const second = this.faults.length < maxHints ? hint?.() : undefined
    this.faults.push({ field, message: second === undefined ? message : `${message}. ${second}` })
  }
}

/** Of a name that a sender has made up. Each fault has its path, and long texts take long to compare. */
const maxName = 200

/** Writes `actions[1].config.to`. */
function writePath(keys: readonly (string | number)[]): string {
  let path = ''
  for (const key of keys) {
    const name = typeof key === 'number' ? `[${key}]` : cutText(key, maxName)
    path += typeof key === 'number' || path === '' ? name : `.${name}`
  }
  return path
}

/** Nobody reads more, and the faults of 60 KB would be a response of 2 MB. */
const maxFaults = 1_000

/** @param most beyond so many, a last fault says that there are more */
export function limitFaults(faults: Fault[], most = maxFaults): Fault[] {
  if (faults.length <= most) return faults
  return [...faults.slice(0, most), { field: '', message: `Only the first ${most} faults are listed` }]
}
