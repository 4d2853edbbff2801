import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const groupDirectory = '.tap/groups'
/** So many files share a process: each later one runs compiled code, and what one file does to another is found among few. */
const filesPerGroup = 24
/** What only `npm run test:long` runs: tests of minutes, and those whose property a shorter test of `npm test` has, too. */
const longFiles = /\/long\//
/** Tests of what a process has once: its event loop, its memory, its telemetry, its warnings, the connections of a fixture, or all backtests of a database. */
const aloneFiles = [
  longFiles,
  /^test\/(?!dist\/src\/(storm\/|containers|cpu-budget|only-the-ledger|rooms|settings))/,
  /^packages\/process\/dist\/test\/telemetry\//,
  /\/(tracing|slots|browser|slow-readers|retention|remove-history|rule-import)\.test\.js$/,
]
/**
 * The order of `npm test`, so that the first failure comes soon, since tap shows the results in this order: what takes seconds, what runs in
 * this process, then the rest: browsers, and whole processes under faults, of which the two slowest begin, or the run would end with one of them alone.
 * `npm run test:long` begins with the slowest instead, since at its end its cores would idle.
 */
const phases = [
  /^(packages\/(engine|webhooks)\/|test\/dist\/src\/$)/,
  /^packages\/(?!launcher\/)/,
  /^(?!.*browser\.test)apps\//,
  /^apps\/console\/dist\/test\/browser\.test|\/storm\.test/,
  /./,
]

/**
 * The files that tap runs, in their order, each in a process of its own: those above, and one for each group of the others, which share a
 * process (scripts/one-process.mjs). The files of a group are neighbours in one room, so they load the same modules.
 *
 * @param isLong for `npm run test:long`
 */
export function prepareTestFiles(isLong) {
  rmSync(new URL(groupDirectory, root), { recursive: true, force: true })
  mkdirSync(new URL(groupDirectory, root), { recursive: true })
  const rooms = listRooms().map((room) => {
    const files = listTests(room).filter((file) => isLong || !longFiles.test(file))
    const alone = files.filter((file) => aloneFiles.some((pattern) => pattern.test(file)))
    const groups = writeGroups(
      room,
      files.filter((file) => !alone.includes(file)),
    )
    const all = [
      ...groups.map((path) => ({ path, phase: phaseOf(`${room}/`) })),
      ...alone.map((path) => ({ path, phase: phaseOf(path) })),
    ]
    return all.map((one) => ({ ...one, place: placeAmong(one, all) }))
  })
  const sign = isLong ? -1 : 1
  return rooms
    .flat()
    .sort((a, b) => sign * (a.phase - b.phase) || a.place - b.place)
    .map(({ path }) => path)
}

/** From 0 to 1, in its phase. The rooms take turns by it: the tests of a worker wait for much, and those of an API compute meanwhile. */
function placeAmong(one, all) {
  const neighbours = all.filter(({ phase }) => phase === one.phase)
  return neighbours.indexOf(one) / neighbours.length
}

function phaseOf(path) {
  return phases.findIndex((pattern) => pattern.test(path))
}

/** Directories with compiled tests. */
function listRooms() {
  const rooms = ['apps', 'packages'].flatMap((parent) =>
    listNames(parent).map((name) => `${parent}/${name}/dist/test`),
  )
  return [...rooms, 'bench/dist/test', 'test/dist/src']
}

/** Paths from the root, sorted. What was compiled from a source that is gone is none of them. */
function listTests(directory) {
  return listNames(directory, { recursive: true })
    .filter((name) => name.endsWith('.test.js') && !name.split('/').includes('fixtures'))
    .map((name) => `${directory}/${name}`)
    .filter((path) => existsSync(new URL(path.replace('/dist/', '/').replace(/js$/, 'ts'), root)))
}

/** @returns the paths of the groups, which are as large as each other */
function writeGroups(room, files) {
  const count = Math.ceil(files.length / filesPerGroup)
  const name = room.split('/').slice(0, -2).join('-')
  return Array.from({ length: count }, (_, index) => {
    const group = files.filter((_, place) => Math.floor((place * count) / files.length) === index)
    const path = `${groupDirectory}/${name}-${index + 1}.test.mjs`
    const program = `import { runInOneProcess } from '../../scripts/one-process.mjs'\n\nawait runInOneProcess(${JSON.stringify(group, undefined, 2)})\n`
    writeFileSync(new URL(path, root), program)
    return path
  })
}

/** Empty where there is no such directory. */
function listNames(directory, options) {
  try {
    return readdirSync(new URL(directory, root), options).sort()
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  }
}
