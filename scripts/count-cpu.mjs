import { isMainThread } from 'node:worker_threads'
import { noteCpu } from './cpu-time.mjs'

// Loaded before tap in each process of a test run (scripts/tap.mjs). A process notes at its end the CPU that it has used, with the processes
// that it has started and that have ended.
if (isMainThread) process.on('exit', () => noteCpu(process.argv[1]))
