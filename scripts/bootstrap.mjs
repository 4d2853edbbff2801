// Makes a fresh clone ready to run: installs the packages and builds, each only when something changed since the last
// time. Needs nothing but Node itself, since nothing is installed yet.
//
//   node scripts/bootstrap.mjs [--tap] [--product | --no-build]
//
// --tap: makes the test runner ready, too; --product: builds no more than `npm start` runs; --no-build: only installs
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { tryLock } from '../packages/launcher/lock-file.mjs'
import { isBuilt } from './build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const installedList = 'node_modules/.package-lock.json'
const tapMarker = 'node_modules/.automation-tap'
/** The product has this lock as well, shared, as long as it runs (packages/launcher/src/clone-lock.ts). */
const lockFile = '.bootstrap.lock'
const wantsTap = process.argv.includes('--tap')
const isForProduct = process.argv.includes('--product')
const wantsBuild = !process.argv.includes('--no-build')
/** What to do if a step fails, by what it has said. */
const reasons = [
  [/\b(EROFS|EACCES)\b/, `files of ${root} cannot be written: build it once where they can`],
  [/\bENOSPC\b/, 'the disk is full'],
  [
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/,
    'npm cannot reach its registry: start once where it can, and later starts need no network',
  ],
  [/^/, 'the reason stands above'],
]
/** After so long a step says that it still runs. */
const patienceMs = 15_000

process.chdir(root)
checkNode()
const lock = await lockClone()
if (lock !== 'not needed') {
  await installPackages()
  if (wantsBuild) await build()
  if (wantsTap) await prepareTap()
  if (lock !== undefined) closeSync(lock)
}

/** Waits for another bootstrap. Beside a running product nothing is installed or built, which would change its files. */
async function lockClone() {
  let seenRunning = 0
  for (let isFirst = true; ; isFirst = false) {
    try {
      const descriptor = tryLock(lockFile, 'exclusive')
      if (descriptor !== undefined) return descriptor
      const shared = tryLock(lockFile, 'shared')
      if (shared === undefined) seenRunning = 0
      else {
        closeSync(shared)
        if (isReady()) return 'not needed'
        // Once may be a bootstrap that ended just now, or one that looks like this.
        seenRunning++
      }
      if (seenRunning === 5) {
        fail(
          'npm start, npm test or a benchmark runs in this directory, and packages or programs have changed since: stop it first, ' +
            'because an installation or a build would replace its files.',
        )
      }
    } catch {
      // No file can be made here.
      return undefined
    }
    if (isFirst && seenRunning === 0)
      console.log('Waiting for another installation or build in this directory …')
    await delay(200)
  }
}

function isReady() {
  return isInstalled() && (!wantsBuild || isBuilt(isForProduct)) && (!wantsTap || isTapReady())
}

/** package.json names the versions in the form `^20.19 || >=24`. */
function checkNode() {
  const wanted = JSON.parse(readText('package.json')).engines.node
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isSupported = wanted.split(' || ').some((range) => {
    const [, operator, from, least = 0] = /^(\^|>=)(\d+)(?:\.(\d+))?$/.exec(range)
    return major === Number(from) ? minor >= Number(least) : operator === '>=' && major > Number(from)
  })
  if (!isSupported)
    fail(`Node 24 is recommended, ${wanted} is supported, and this is ${process.versions.node}.`)
}

async function installPackages() {
  if (isInstalled()) return
  // Nobody knows yet whether the silence of a minute is a fault.
  if (isForProduct && readText(installedList) === undefined)
    console.log(
      'The first start takes one to five minutes: it installs packages, builds and starts. Later ones take seconds.',
    )
  // What builds and runs the product here are development packages: NODE_ENV=production must not leave them out.
  const args = ['ci', '--include=dev', '--no-fund', '--no-audit']
  // Under `npm start` the npm that is running says where it lies: it need not be on the PATH.
  const npm = process.env.npm_execpath
  await (npm?.endsWith('.js')
    ? runStep('Installing packages', process.execPath, [npm, ...args])
    : runStep('Installing packages', 'npm', args))
}

/** npm ends each install by writing down what it put into node_modules: that has to cover the lock file. */
function isInstalled() {
  const installed = JSON.parse(readText(installedList) ?? '{"packages":{}}').packages
  return Object.entries(JSON.parse(readText('package-lock.json')).packages).every(([path, wanted]) => {
    const found = installed[path]
    // Packages for other platforms are optional, and rightly missing.
    if (found === undefined) return path === '' || wanted.optional === true
    return found.version === wanted.version && found.integrity === wanted.integrity
  })
}

async function build() {
  if (isBuilt(isForProduct)) return
  await runStep('Building', process.execPath, ['scripts/build.mjs', ...(isForProduct ? ['--product'] : [])])
}

/** tap bakes its set of plugins into itself: once after each install, and when .taprc names others. */
async function prepareTap() {
  if (isTapReady()) return
  await runStep('Preparing the test runner', 'tap', ['build'])
  writeFileSync(tapMarker, hashTap())
}

function isTapReady() {
  return readText(tapMarker) === hashTap()
}

function hashTap() {
  return createHash('sha256').update(readText('.taprc')).update(readText(installedList)).digest('hex')
}

/** One line with the seconds it took; what the command says is shown only when it fails. */
async function runStep(title, command, args) {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  process.stdout.write(`${title} … `)
  let isFirst = true
  const clock = setInterval(() => {
    const hint = isFirst ? ' (Ctrl-C ends it; the next start goes on)' : ''
    process.stdout.write(`${seconds().toFixed(0)} s${hint} … `)
    isFirst = false
  }, patienceMs)
  const { code, output } = await runQuietly(command, args)
  clearInterval(clock)
  if (code === 0) {
    process.stdout.write(`${seconds().toFixed(1)} s\n`)
    return
  }
  process.stdout.write('failed\n')
  const [, reason] = reasons.find(([pattern]) => pattern.test(output))
  fail(`${output.trimEnd()}\n\n${title} failed: ${reason}.`)
}

function runQuietly(command, args) {
  const env = {
    ...process.env,
    PATH: `${root}node_modules/.bin${delimiter}${process.env.PATH}`,
  }
  return new Promise((resolve) => {
    let output = ''
    // It has the lock, too: if this process is killed, the next one waits for the end of the child.
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe', lock ?? 'ignore'] })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.once('error', (error) =>
      resolve({ code: 1, output: `${command} could not be started: ${error.message}` }),
    )
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
