// node run.mjs <program> …: runs a program of this directory, or reports that it is not built yet.
import { readFileSync, statSync } from 'node:fs'

const [program] = process.argv.splice(2, 1)
try {
  await import(`./dist/${isBundled() ? 'bundle' : 'src'}/${program}.js`)
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  console.error('The product is not built yet: run `npm start` once, or `npm ci && npm run build`.')
  process.exitCode = 1
}

/** The bundle starts in a quarter of the time. It is not used where tsc has compiled something of it since it was made. */
function isBundled() {
  const bundledAt = timeOf(`dist/bundle/${program}.js`)
  if (bundledAt === 0) return false
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url)))
  const rooms = Object.keys(dependencies).flatMap((name) => /^@automation\/(.+)$/.exec(name)?.[1] ?? [])
  return ['.', ...rooms.map((room) => `../../packages/${room}`)].every(
    (room) => timeOf(`${room}/dist/tsconfig.tsbuildinfo`) <= bundledAt,
  )
}

/** Epoch ms; 0 where there is no such file. An image has what tsc wrote, and not its notes. */
function timeOf(path) {
  return statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
