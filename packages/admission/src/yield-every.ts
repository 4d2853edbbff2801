/** When the present turn of the event loop began to work; undefined before it does. */
let begunAt: number | undefined
/** What waits for a later turn. */
const waiting: (() => void)[] = []

/**
 * Gives the event loop to others when this turn of it has worked for so long already. Long synchronous work calls it between its pieces, and so does what
 * many callers begin in one turn: together they work for so long in a turn, one piece after another, in the order of their calls.
 *
 *   for (const rule of rules) {
 *     await yieldEvery(10)
 *     compile(rule)
 *   }
 *
 * @returns undefined if this turn has time left. Of what many callers begin, each works at once then, and does not await it: the next one would be asked before
 * this one has worked
 */
export function yieldEvery(ms: number): Promise<void> | undefined {
  if (begunAt === undefined) beginTurn()
  if (waiting.length === 0 && !isOver(ms)) return undefined
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(() => resumeNext(ms))
  })
}

function beginTurn(): void {
  begunAt = performance.now()
  setImmediate(() => {
    begunAt = undefined
  })
}

function isOver(ms: number): boolean {
  return performance.now() - (begunAt ?? 0) >= ms
}

/** One piece after another: the next one is resumed when no microtask of the last one is left. */
function resumeNext(ms: number): void {
  if (begunAt === undefined) beginTurn()
  if (isOver(ms)) {
    setImmediate(() => resumeNext(ms))
    return
  }
  waiting.shift()?.()
  if (waiting.length > 0) queueMicrotask(() => process.nextTick(resumeNext, ms))
}
