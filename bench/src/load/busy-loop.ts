import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

// node bench/dist/src/load/busy-loop.js
// Computes for a fifth of the time at the lowest priority, until it is killed or its parent ends. It shows what live events lose to any process
// that uses as much CPU.
const [workMs, restMs] = [10, 40]
setPriority(19)
process.on('disconnect', () => process.exit())
for (;;) {
  const startedAt = performance.now()
  while (performance.now() - startedAt < workMs);
  await delay(restMs)
}
