import { isMainThread } from 'node:worker_threads'
import { noteCpu } from './cpu-time.mjs'

// Loaded before tap in each process of a test run (scripts/tap.mjs). A process notes at its end the CPU that it has used, with the processes
// that it has started and that have ended. One that a test starts with an environment of its own notes nothing.
if (isMainThread && process.env.TEST_CPU_FILE !== undefined)
  process.on('exit', () => noteCpu(process.argv[1]))
