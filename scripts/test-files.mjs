import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { longFiles } from './long-files.mjs'

const root = new URL('..', import.meta.url)
const groupDirectory = '.tap/groups'
/** So many files share a process: each later one runs compiled code, and what one file does to another is found among few. */
const filesPerGroup = 16
/**
 * Tests of whole processes, and tests of what a process has once: its event loop, its memory, its telemetry, its warnings, or the connections of a
 * fixture.
 */
const aloneFiles = [
  /^test\//,
  /^packages\/(launcher|telemetry|rules)\//,
  /\/(tracing|event-loop|slots|browser|slow-readers|retention|remove-history)\.test\.js$/,
]

/**
 * The files that tap runs, each in a process of its own: those of the tests above, and one for each group of the others, which share a process
 * (scripts/one-process.mjs). The files of a group are neighbours in one room, so they load the same modules.
 */
export function prepareTestFiles() {
  rmSync(new URL(groupDirectory, root), { recursive: true, force: true })
  mkdirSync(new URL(groupDirectory, root), { recursive: true })
  const missing = longFiles.filter((file) => !existsSync(new URL(file, root)))
  if (missing.length > 0)
    throw new Error(`scripts/long-files.mjs names files that do not exist: ${missing.join(', ')}`)
  return listRooms().flatMap((room) => {
    const files = listTests(room)
    const alone = files.filter(
      (file) => aloneFiles.some((pattern) => pattern.test(file)) || longFiles.includes(file),
    )
    return [
      ...writeGroups(
        room,
        files.filter((file) => !alone.includes(file)),
      ),
      ...alone,
    ]
  })
}

/** Directories with compiled tests. */
function listRooms() {
  const rooms = ['apps', 'packages'].flatMap((parent) =>
    listNames(parent).map((name) => `${parent}/${name}/dist/test`),
  )
  return [...rooms, 'bench/dist/test', 'test/dist/src']
}

/** Paths from the root, sorted. */
function listTests(directory) {
  return listNames(directory, { recursive: true })
    .filter((name) => name.endsWith('.test.js') && !name.split('/').includes('fixtures'))
    .map((name) => `${directory}/${name}`)
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
