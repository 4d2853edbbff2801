// Where the sources of our packages are, so that a bundle needs nothing compiled.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const packages = new Map()

/** `@automation/engine` → `/…/packages/engine/src/index.ts`; undefined for what is none of ours. */
export function findSource(specifier, directory = root) {
  const [, name, rest] = /^@automation\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? []
  if (name === undefined) return undefined
  const home = `${directory}packages/${name}`
  if (!packages.has(home)) packages.set(home, JSON.parse(readFileSync(`${home}/package.json`, 'utf8')))
  const { exports, sideEffects } = packages.get(home)
  const entry = exports[rest === undefined ? '.' : `./${rest}`] ?? exports['./*']
  const path = entry.default
    .replace('*', rest)
    .replace(/^\.\/dist\//, '')
    .replace(/\.js$/, '.ts')
  const hasSideEffects = Array.isArray(sideEffects) ? sideEffects.includes(entry.default) : sideEffects
  return { path: `${home}/${path}`, sideEffects: hasSideEffects ?? true }
}

/** All that may be imported of our packages. */
export function listSpecifiers(directory) {
  return readdirSync(`${directory}packages`).flatMap((name) => {
    const home = `${directory}packages/${name}`
    // A package that is gone leaves behind what was compiled of it.
    if (!existsSync(`${home}/package.json`)) return []
    const { exports } = JSON.parse(readFileSync(`${home}/package.json`, 'utf8'))
    const rooms = readdirSync(`${home}/src`).filter((room) => existsSync(`${home}/src/${room}/index.ts`))
    return Object.keys(exports)
      .flatMap((path) => (path === './*' ? rooms.map((room) => `./${room}`) : [path]))
      .map((path) => posix.join('@automation', name, path))
  })
}
