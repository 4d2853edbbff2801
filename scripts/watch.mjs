// Compiles again what an edit has changed, for `npm start -- --watch`, whose launcher starts this (packages/launcher/src/demo/edits.ts). It
// sends what came of each edit: the directories of the programs to start again, or what is wrong. The first message says that it watches.
//
// Modules are compiled one by one in a moment. A bundle of one changed file would take nearly as long as all bundles.
import { existsSync, readdirSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makePage } from './build.mjs'
import { compile, roomOf } from './compile.mjs'
import { root } from './sources.mjs'

/** Editors write a file in several steps. */
const quietMs = 100
const page = 'apps/console'

process.chdir(root)
// This process ends with its launcher.
process.on('disconnect', () => process.exit())
const programs = ['apps/api', 'apps/worker', 'apps/board', page, 'packages/launcher']
/** What each program was bundled from. */
const sources = new Map(programs.map((program) => [program, readSources(program)]))
let edits = 0
const rooms = ['apps', 'packages'].flatMap((parent) =>
  readdirSync(parent).map((name) => `${parent}/${name}/src`),
)
for (const directory of [...rooms.filter((room) => existsSync(room)), `${page}/pages`])
  watch(directory, { recursive: true }, (_, file) => {
    if (!/(^|\/)generated(\/|$)/.test(file ?? '')) edits++
  })
for (let seen = -1, isFirst = true; ; isFirst = false) {
  while (edits === seen) await delay(quietMs)
  while (edits !== seen) {
    seen = edits
    if (!isFirst) await delay(quietMs)
  }
  await apply(compile, (compiled) => (isFirst ? [] : [...new Set(compiled.flatMap(findUsers))]))
  await apply(makePage, (isNew) => (isNew ? [page] : []))
}

/** Sends the programs that are others now, or the fault. The first message is sent in any case. */
async function apply(make, findChanged) {
  const startedAt = performance.now()
  try {
    const changed = findChanged(await make())
    process.send({ changed, seconds: (performance.now() - startedAt) / 1_000 })
  } catch (error) {
    process.send({ fault: describeFault(error) })
  }
}

function readSources(program) {
  const inputs = JSON.parse(readFileSync(`${program}/dist/bundle/inputs.json`, 'utf8'))
  return new Set(Object.keys(inputs).map((path) => join(program, path)))
}

/** A source that is in no bundle may be new, or imported since an edit: all that may import it are its users. */
function findUsers(file) {
  if (!file.startsWith(`${roomOf(file)}/src/`)) return []
  const users = programs.filter((program) => sources.get(program).has(file))
  if (users.length > 0) return users
  return file.startsWith('packages/')
    ? programs.filter((program) => program !== 'packages/launcher')
    : programs.filter((program) => program === roomOf(file))
}

function describeFault({ message, errors: [{ location, text } = {}] = [] }) {
  const reason = location
    ? `${location.file}:${location.line}:${location.column} cannot be compiled (${text})`
    : `${message}\nThe page cannot be built`
  return `${reason}: what ran before the edit goes on.`
}
