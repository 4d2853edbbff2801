// tap with its own command line, as `npm test` runs it: each process loads its modules without tap's hooks.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const preload = new URL('./without-loader-hooks.mjs', import.meta.url)
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`
const { resolve } = createRequire(import.meta.url)
await import(new URL('dist/esm/run.mjs', pathToFileURL(resolve('tap/package.json'))))
