import { Transform } from 'node:stream'

/**
 * What a test run prints (tap's `reporter`, .taprc): a line for each file as it ends, the remarks that its tests make, and
 * last, where the log of a CI run is read, each failure with its diagnostics. tap's own reporters draw for a terminal
 * and print nothing where CI is set. Everything else of a file stays in .tap/test-results.
 */
export default class Report extends Transform {
  #rest = ''
  #remarks = []
  #faults = []
  #failures = []
  #inFault = false

  _transform(chunk, _encoding, done) {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop()
    for (const line of lines) this.#read(line)
    done()
  }

  _flush(done) {
    if (this.#rest) this.#read(this.#rest)
    if (this.#failures.length > 0) this.push(`\nFailed:\n\n${this.#failures.join('\n')}\n`)
    this.push(`\n${this.#remarks.join('\n')}\n`)
    done()
  }

  #read(line) {
    if (/^(not )?ok /.test(line)) this.#endFile(line)
    else if (/^\s*not ok /.test(line) && !/# (TODO|SKIP)/i.test(line)) this.#startFault(line)
    else if (this.#inFault && /^\s*(# Subtest|ok |1\.\.)/.test(line)) this.#inFault = false
    else if (this.#inFault) this.#faults.push(line)
    else if (/^\s*# (?!Subtest|time=|No coverage)/.test(line)) this.#remarks.push(line.trim())
    else if (/^Bail out/.test(line)) this.push(`${line}\n`)
  }

  #startFault(line) {
    this.#inFault = true
    this.#faults.push(line)
  }

  #endFile(line) {
    this.push(`${[line, ...this.#remarks].join('\n  ')}\n`)
    if (line.startsWith('not ok')) this.#failures.push(line, ...this.#faults)
    this.#remarks = []
    this.#faults = []
    this.#inFault = false
  }
}
