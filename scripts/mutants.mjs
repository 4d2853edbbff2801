// Makes one fault after another in a source, in a copy of the project, and names those that no test of its room notices. Stryker makes the
// faults; npx downloads it. A file takes minutes, and a room hours.
//
//   npm run mutants -- packages/webhooks/src/rewrite-json.ts        more files or directories of one room; tests that it names run alone
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { compiledOf, roomOf } from './compile.mjs'
import { root } from './sources.mjs'

const version = '9.6.1'
const packages = ['core', 'tap-runner'].flatMap((name) => [
  '--package',
  `@stryker-mutator/${name}@${version}`,
])
const usage = 'npm run mutants -- packages/webhooks/src/rewrite-json.ts [more files of its room] [its tests]'
const configFile = '.tap/mutants.json'

process.chdir(root)
const files = process.argv.slice(2).flatMap(findSources)
const sources = files.filter((file) => !isTest(file))
const [room, ...others] = new Set(files.map(roomOf))
if (sources.length === 0 || others.length > 0) fail(`Name sources of one room: ${usage}`)
const named = files.filter(isTest)
const tests =
  named.length > 0
    ? named
    : listFiles(`${room}/test`).filter((file) => isTest(file) && !file.includes('/long/'))
mkdirSync('.tap', { recursive: true })
writeFileSync(configFile, JSON.stringify(configure()))
const stryker = ['npx', '--yes', ...packages, 'stryker', 'run', configFile]
const child = spawn(process.execPath, ['packages/launcher/dist/src/with-services.js', ...stryker], {
  stdio: 'inherit',
})
// A Ctrl-C reaches it by itself.
process.on('SIGINT', () => undefined)
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1

function configure() {
  return {
    testRunner: 'tap',
    tap: {
      testFiles: tests.map(compiledOf),
      nodeArgs: ['-r', '{{hookFile}}', '--import=./scripts/without-tap-hooks.mjs', '{{testFile}}'],
    },
    mutate: sources.map(compiledOf),
    coverageAnalysis: 'perTest',
    // A fault that only seems to hang, since the machine is busy, would count as noticed.
    timeoutMS: 30_000,
    timeoutFactor: 4,
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { logTests: false, reportTests: false },
    // It reads them by the interface of an older TypeScript.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    tempDirName: '.tap/mutants',
    ignorePatterns: ['.data', '.tap', 'artefacts', 'site'],
  }
}

/** @returns paths from the root */
function findSources(name) {
  const path = relative(root, resolve(process.env.INIT_CWD ?? root, name))
  const found = [path, name].find((candidate) => !candidate.startsWith('..') && existsSync(candidate))
  if (found === undefined) fail(`There is no ${name}: ${usage}`)
  return statSync(found).isDirectory() ? listFiles(found) : [found]
}

function listFiles(directory) {
  return readdirSync(directory, { recursive: true })
    .map((name) => `${directory}/${name}`)
    .filter((file) => /(?<!\.d)\.ts$/.test(file))
    .sort()
}

function isTest(file) {
  return file.endsWith('.test.ts')
}

function fail(message) {
  console.error(message)
  process.exit(2)
}
