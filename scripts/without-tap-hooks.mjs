import asyncHooks from 'node:async_hooks'
import { ChildProcess } from 'node:child_process'
import module, { syncBuiltinESMExports } from 'node:module'

// Loaded before tap in each process of a test run (scripts/tap.mjs). tap observes all that a test does: for mocks, which no test here uses, for
// coverage, which is off, and to assign an exception that nobody catches to its test. That doubles what it costs to start a process, and
// a run starts hundreds.

// tap follows each module that is loaded.
module.register = () => {}
// In its place on newer versions of Node.
if (module.registerHooks) module.registerHooks = () => ({ deregister() {} })
// The mark by which tap knows that it hooks require() already.
globalThis[Symbol.for('@tapjs/processinfo.registerRequire')] = true

// tap follows each promise. Without that, an exception that nobody catches ends the file and fails it.
const hook = { enable: () => hook, disable: () => hook }
asyncHooks.createHook = () => hook
syncBuiltinESMExports()

// tap runs each file with source maps: Node reads and parses one for each of two thousand modules. `node` alone shows lines of TypeScript.
if (process.env.TEST_SOURCE_MAPS !== '1') process.setSourceMapsEnabled(false)

// tap loads itself into each process that a test starts. Those of the product are to be what they are without tests.
const observers =
  /(^|\s)"?--import=[^"\s]*(@tapjs\/processinfo|scripts\/(without-tap-hooks|count-cpu|seed-properties)\.mjs)[^"\s]*"?/g
const { spawn } = ChildProcess.prototype
ChildProcess.prototype.spawn = function (options) {
  const envPairs = options.envPairs?.map((pair) =>
    pair.startsWith('NODE_OPTIONS=') ? `NODE_OPTIONS=${pair.slice(13).replace(observers, '')}` : pair,
  )
  return spawn.call(this, { ...options, envPairs })
}
