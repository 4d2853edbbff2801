import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

// node bench/dist/src/load/busy-loop.js
// computes for a fifth of the time, at the lowest priority, until it is killed, or its parent has ended: what any other process of that size costs live events.
const [workMs, restMs] = [10, 40]
setPriority(19)
process.on('disconnect', () => process.exit())
for (;;) {
  const startedAt = performance.now()
  while (performance.now() - startedAt < workMs);
  await delay(restMs)
}
