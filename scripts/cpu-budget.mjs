// The CPU that each test file uses: test/cpu-budget.json has it in units of scripts/yardstick.mjs, and a run is compared with that list. A file
// that is not in the list, or uses less than the floor, counts as one that uses the floor.
//
//   node scripts/cpu-budget.mjs [--all]     writes what the last `npm test` has used into the list: what it named, and what now uses less
//                                           than two thirds of its entry; the other entries stay. --all: each entry
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const listFile = new URL('../test/cpu-budget.json', import.meta.url)
const lastRunFile = new URL('../.tap/cpu-units.json', import.meta.url)
/** Below this, noise is larger than what a change does. */
const floorUnits = 2
const mostOfFile = 1.5
const mostOfAll = 1.2

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const list = renew(readJson(lastRunFile), readList(), process.argv.includes('--all'))
  writeFileSync(listFile, `${JSON.stringify(list, undefined, 2)}\n`)
}

/** @returns the seconds of CPU of one unit, on this machine as it is now */
export function measureUnit() {
  const yardstick = fileURLToPath(new URL('yardstick.mjs', import.meta.url))
  const env = { ...process.env, NODE_OPTIONS: '' }
  return Number.parseFloat(execFileSync(process.execPath, [yardstick], { encoding: 'utf8', env }))
}

/**
 * @param files `{ name, seconds }` of each compiled test file
 * @param seconds of the whole run, servers included
 * @param unit the seconds of one unit
 * @returns `{ whole, files: { <source of a test>: units } }`, as the list has it
 */
export function toUnits({ files, seconds, unit }) {
  const inUnits = (value) => Math.round((10 * value) / unit) / 10
  const entries = files.map((file) => [sourceOf(file.name), inUnits(file.seconds)])
  return { whole: inUnits(seconds), files: Object.fromEntries(entries.sort()) }
}

/** Keeps what this run has used, for the command above. @returns as `findDearer` */
export function compareWithList(run) {
  writeFileSync(`${process.env.TEST_CPU_FILE}-units.json`, JSON.stringify(run))
  return findDearer(run, readList())
}

/** @returns what a run has used above the list, a line each, the dearest first */
export function findDearer(run, list) {
  const line = (units, name, entry) => `${units.toFixed(0).padStart(6)} for ${entry}  ${name}`
  const files = Object.entries(run.files)
    .filter(([name, units]) => units > mostOfFile * (list.files[name] ?? floorUnits))
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, units]) => line(units, name, list.files[name] ?? 'a new file'))
  return run.whole > mostOfAll * list.whole ? [line(run.whole, 'all', list.whole), ...files] : files
}

/** @param isAll renews also the entries that are about right */
export function renew(run, list, isAll) {
  const choose = (units, entry, most) => {
    const isRight = entry !== undefined && units <= most * entry && units * most >= entry
    return isRight && !isAll ? entry : Math.round(units)
  }
  const entries = Object.entries(run.files)
    .map(([name, units]) => [name, choose(units, list.files[name], mostOfFile)])
    .filter(([, units]) => units >= floorUnits)
  return { whole: choose(run.whole, list.whole, mostOfAll), files: Object.fromEntries(entries) }
}

/** Empty before the first run has been written into it. */
function readList() {
  try {
    return readJson(listFile)
  } catch (error) {
    if (error.code === 'ENOENT') return { files: {} }
    throw error
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function sourceOf(compiled) {
  return compiled.replace('/dist/', '/').replace(/js$/, 'ts')
}
