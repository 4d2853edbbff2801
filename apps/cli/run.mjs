// node run.mjs <program> …: runs a program of this directory, or reports that it is not built yet.
import { readdirSync, statSync } from 'node:fs'

const [program] = process.argv.splice(2, 1)
try {
  await import(`./dist/${findBuild()}/${program}.js`)
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  console.error('The product is not built yet: run `npm start` once, or `npm ci && npm run build`.')
  process.exitCode = 1
}

/** The bundle starts in a quarter of the time. It is not used where tsc has compiled something since it was made. */
function findBuild() {
  const bundledAt = timeOf(`dist/bundle/${program}.js`)
  const compiled = ['../../packages', '..'].flatMap((rooms) =>
    listRooms(rooms).map((room) => timeOf(`${rooms}/${room}/dist/tsconfig.tsbuildinfo`)),
  )
  return bundledAt > 0 && compiled.every((time) => time <= bundledAt) ? 'bundle' : 'src'
}

/** Epoch ms; 0 where there is no such file. An image has the outputs of tsc, and not its notes. */
function timeOf(path) {
  return statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function listRooms(path) {
  try {
    return readdirSync(new URL(path, import.meta.url))
  } catch {
    return []
  }
}
