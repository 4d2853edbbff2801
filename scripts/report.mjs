import { Transform } from 'node:stream'
import { compareWithList, measureUnit, toUnits } from './cpu-budget.mjs'
import { readCpuOfFiles, readCpuSeconds } from './cpu-time.mjs'
import { shortenFaults } from './shorten-faults.mjs'

const filesShown = 15
/** A file with a process of its own, or one of those that share a process (scripts/one-process.mjs). */
const fileEnd = /^(?: {4})?(?:not )?ok \d+ - (\S+\.test\.m?js)(?:.*# time=([\d.]+)ms)?/

/**
 * What a test run prints (tap's `reporter`, .taprc): a line for each file as it ends, the remarks that its tests make, and
 * last, where the log of a CI run is read, each failure with its diagnostics, the slowest files, those that used most CPU, what used more
 * than its list allows (scripts/cpu-budget.mjs), the time of it all, and what failed, where and how: a log may be cut in its middle. tap's
 * own reporters draw for a terminal and print nothing where CI is set. Everything else of a file stays in .tap/test-results.
 */
export default class Report extends Transform {
  #rest = ''
  #remarks = []
  #faults = []
  #failures = []
  #inFault = false
  /** How the process of a failed file has ended. */
  #ends = []
  #files = []

  _transform(chunk, _encoding, done) {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop()
    for (const line of lines) this.#read(line)
    done()
  }

  _flush(done) {
    if (this.#rest) this.#read(this.#rest)
    const failures = [...this.#failures, this.#faults].flat()
    if (failures.length > 0) this.push(`\nFailed:\n\n${failures.join('\n')}\n`)
    this.push(`\n${this.#remarks.join('\n')}\n\n${this.#describeTime()}\n`)
    if (failures.length > 0) this.push(`\nIn short:\n${shortenFaults(failures).join('\n')}\n`)
    done()
  }

  #read(line) {
    if (fileEnd.test(line)) this.#endFile(line)
    else if (/^\s*not ok /.test(line) && !/# (TODO|SKIP)/i.test(line)) this.#startFault(line)
    else if (this.#inFault && /^\s*(# Subtest|ok |1\.\.)/.test(line)) this.#inFault = false
    else if (this.#inFault) this.#faults.push(line)
    else if (/^ {2}(exitCode|signal): (?!null)/.test(line)) this.#ends.push(line)
    else if (/^\s*# (?!Subtest|time=|No coverage)/.test(line)) this.#remarks.push(line.trim())
    else if (/^Bail out/.test(line)) this.push(`${line}\n`)
  }

  #startFault(line) {
    this.#inFault = true
    this.#faults.push(line)
  }

  #describeTime() {
    const files = readCpuOfFiles().filter(({ name }) => !isGroup(name))
    const seconds = readCpuSeconds(process.ppid)
    const cpu = seconds === undefined ? '' : `, ${describeSeconds(seconds)} of CPU`
    return [
      ...['The slowest files:', ...listLargest(this.#files)],
      ...(files.length === 0 ? [] : ['The most CPU, shared servers left out:', ...listLargest(files)]),
      ...(seconds === undefined || process.env.TEST_CPU_UNIT === undefined
        ? []
        : describeUnits(files, seconds)),
      `${describeSeconds(process.uptime())}${cpu}`,
    ].join('\n')
  }

  /** tap lets a file without tests pass. */
  #failEmpty(name) {
    this.#failures.push(`${name} has no tests`)
    process.on('exit', () => {
      process.exitCode = 1
    })
  }

  #endFile(line) {
    const [, name, ms = '0'] = fileEnd.exec(line)
    if (!isGroup(name)) this.#files.push({ name, seconds: Number(ms) / 1_000 })
    this.push(`${[`${line.trim()}${describeCpu(name)}`, ...this.#remarks].join('\n  ')}\n`)
    if (line.trim().startsWith('not ok')) {
      this.#ends = []
      this.#failures.push([line.trim()], this.#ends, this.#faults)
    }
    if (/^ok .* # SKIP no tests found/.test(line.trim())) this.#failEmpty(name)
    this.#remarks = []
    this.#faults = []
    this.#inFault = false
  }
}

/** The process of several files, which are listed by themselves. */
function isGroup(name) {
  return name.startsWith('.tap/groups/')
}

/** In units as they were before the run. */
function describeCpu(file) {
  const seconds = readCpuOfFiles().find(({ name }) => name === file)?.seconds
  const unit = process.env.TEST_CPU_UNIT
  return seconds === undefined || unit === undefined ? '' : ` cpu=${(seconds / Number(unit)).toFixed(1)}`
}

function listLargest(files) {
  return files
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, filesShown)
    .map(({ seconds, name }) => `${seconds.toFixed(0).padStart(6)} s  ${name}`)
}

/** Of a whole run alone (scripts/tap.mjs): it is compared with the list. */
function describeUnits(files, seconds) {
  const units = [Number(process.env.TEST_CPU_UNIT), measureUnit()]
  const run = toUnits({ files, seconds, unit: (units[0] + units[1]) / 2 })
  const dearer = compareWithList(run)
  return [
    `${run.whole} units of CPU, of ${units[0].toFixed(2)} s before the run and ${units[1].toFixed(2)} s after it`,
    ...(dearer.length === 0 ? [] : ['More than test/cpu-budget.json allows, in units:', ...dearer]),
  ]
}

function describeSeconds(seconds) {
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}
