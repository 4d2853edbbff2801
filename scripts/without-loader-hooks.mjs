import module, { syncBuiltinESMExports } from 'node:module'

// Loaded before tap in each process of a test run (scripts/tap.mjs). tap follows each module that a test, or any process
// that a test starts, loads: for mocks, which no test here uses, and for coverage, which is off. That doubles what it costs
// to start a process, and a run starts hundreds.
module.register = () => {}
// In its place on newer versions of Node.
if (module.registerHooks) module.registerHooks = () => ({ deregister() {} })
syncBuiltinESMExports()
// The mark by which tap knows that it hooks require() already.
globalThis[Symbol.for('@tapjs/processinfo.registerRequire')] = true
