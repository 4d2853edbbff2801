// Makes what runs, of all that has changed since the last time, and checks no types (`npm run types` does):
//
//   node scripts/build.mjs              the modules of each room, tests included, the bundles, and the page of the console
//   node scripts/build.mjs --product    bundles and page: what `npm start` runs
//   node scripts/build.mjs --modules    modules alone: what a test of one room needs
//
// An interrupted build begins again at the next one.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compile, isCompiled } from './compile.mjs'
import { root } from './sources.mjs'

/** What each part was made of. */
const stampsFile = `${root}.turbo/built.json`
const parts = {
  /** Prisma's client, which is a source. */
  client: {
    inputs: ['prisma/schema.prisma', 'package-lock.json'],
    output: 'packages/database/src/generated/client.ts',
    commands: [['node_modules/prisma/build/index.js', 'generate', '--config', 'prisma.config.ts']],
  },
  bundles: {
    inputs: [
      'apps/*/src',
      'packages/*/src',
      'packages/*/package.json',
      'scripts/bundle.mjs',
      'package-lock.json',
    ],
    output: 'apps/api/dist/bundle/inputs.json',
    commands: [['scripts/bundle.mjs']],
  },
  page: {
    inputs: [
      ...['apps/console/pages', 'packages/*/package.json', 'package-lock.json', 'docs/openapi.json'],
      'scripts/bundle-element.mjs',
      // All that a page may import: a change of the others leaves it as it is.
      ...['backtest', 'check', 'client', 'engine'].map((name) => `packages/${name}/src`),
    ],
    output: 'apps/console/dist/public/index.html',
    commands: [
      ['apps/console/pages/subset-font.mjs'],
      ...['production', 'frame'].map((mode) => [
        ...['apps/console/node_modules/vite/bin/vite.js', 'build', 'apps/console/pages'],
        ...['--mode', mode, '--logLevel=warn'],
      ]),
      ['scripts/bundle-element.mjs'],
      ['apps/console/pages/compress.mjs'],
    ],
  },
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , only] = process.argv
  const makeAll = () =>
    Promise.all([
      make('page'),
      make('client').then(() => Promise.all([make('bundles'), only === '--product' || compile()])),
    ])
  await (only === '--modules' ? makeModules() : makeAll()).catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
}

/** @returns whether it has changed */
export async function makePage() {
  const wasMade = isMade('page')
  await make('page')
  return !wasMade
}

export async function makeModules() {
  await make('client')
  await compile()
}

/** @param isForProduct whether only what `npm start` runs matters */
export function isBuilt(isForProduct) {
  return Object.keys(parts).every(isMade) && (isForProduct || isCompiled())
}

function isMade(name) {
  const { inputs, output } = parts[name]
  return existsSync(root + output) && readStamps()[name] === stampOf(inputs)
}

async function make(name) {
  if (isMade(name)) return
  writeStamps({ [name]: undefined })
  const { inputs, commands } = parts[name]
  const stamp = stampOf(inputs)
  for (const command of commands) await run(command)
  writeStamps({ [name]: stamp })
}

/** Paths, times and sizes: a copy that keeps the times is built, too. `*` stands for each directory at its place. */
function stampOf(inputs) {
  const hash = createHash('sha256')
  const add = (path) => {
    const { mtimeMs, size, isDirectory } = describe(path)
    if (!isDirectory) hash.update(`${path} ${mtimeMs} ${size}\n`)
    else
      for (const name of readdirSync(root + path).sort())
        if (name !== 'node_modules' && path !== 'apps/console/pages/generated') add(`${path}/${name}`)
  }
  for (const input of inputs) {
    const [parent, rest] = input.split('/*/')
    const paths =
      rest === undefined ? [input] : readdirSync(root + parent).map((name) => `${parent}/${name}/${rest}`)
    for (const path of paths.filter((one) => existsSync(root + one))) add(path)
  }
  return hash.digest('hex')
}

function describe(path) {
  const stats = statSync(root + path)
  return { mtimeMs: Math.round(stats.mtimeMs), size: stats.size, isDirectory: stats.isDirectory() }
}

/** The output of a program is shown only if it fails. */
function run([script, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [root + script, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${output.trimEnd()}\n${script} ended with ${code}`)),
    )
  })
}

function readStamps() {
  try {
    return JSON.parse(readFileSync(stampsFile, 'utf8'))
  } catch {
    return {}
  }
}

function writeStamps(changed) {
  mkdirSync(`${root}.turbo`, { recursive: true })
  writeFileSync(stampsFile, JSON.stringify({ ...readStamps(), ...changed }))
}
