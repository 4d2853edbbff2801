import { createBreaker } from './breaker.js'
import { createLanes, type Lane } from './lanes.js'

/** What came of asking to make a call. */
export type Entry =
  | {
      kind: 'entered'
      /**
       * To be called when the call has ended, however it did.
       *
       * @param wasAnswered false where no answer of HTTP or SMTP came, or one that tells of a fault of its server (5xx);
       * left out where no call was made
       */
      leave(wasAnswered?: boolean): void
    }
  /** The destination does not work at present: not to be called before. */
  | { kind: 'broken'; retryAfterMs: number }
  /** Too many wait already. */
  | { kind: 'full' }

export interface Gate {
  /** undefined where there is no place right now. */
  tryEnter(workspaceId: string, destination: string): Entry | undefined
  /** Waits in line for a place. @throws the signal's reason, by its promise; the place in line is given up then */
  enter(workspaceId: string, destination: string, signal?: AbortSignal): Promise<Entry>
  /** How many wait in line. */
  readonly waiting: number
  /** How many places are taken. */
  readonly inFlight: number
}

type Admit = (entry: Entry) => void

/** How many may wait for each place. */
const lineLength = 10

/**
 * Keeps a slow destination, or a busy workspace, from taking all the places for outbound calls: a workspace has a quarter of
 * them at most, one destination of it a tenth. Whoever finds no place waits in line, and a place that becomes free goes round
 * the workspaces. The line is ten times as long as there are places; of it, too, a workspace has a quarter.
 *
 * Nobody waits where there is a place: between two calls of the gate, whoever is in line has a full lane, a full workspace or
 * a full gate before him. So a newcomer who finds a place has overtaken nobody.
 *
 * @param places calls in flight at a time @param onBroken is told of each destination that works no more
 * @param now ms, by a clock that is never set back
 */
export function createGate(places: number, now = () => performance.now(), onBroken = () => {}): Gate {
  const placesOfWorkspace = Math.max(1, Math.floor(places / 4))
  const lanes = createLanes<Admit>(placesOfWorkspace, Math.max(1, Math.floor(places / 10)))
  const breaker = createBreaker(now, onBroken)
  let inFlight = 0
  let waiting = 0

  return {
    tryEnter(workspaceId, destination) {
      const lane = lanes.open(workspaceId, destination)
      const entry = tryLane(lane)
      lanes.settle(lane)
      return entry
    },
    async enter(workspaceId, destination, signal) {
      signal?.throwIfAborted()
      const lane = lanes.open(workspaceId, destination)
      const isFull =
        waiting >= places * lineLength || lane.workspace.waiting >= placesOfWorkspace * lineLength
      const entry = tryLane(lane) ?? (isFull ? ({ kind: 'full' } as const) : waitInLine(lane, signal))
      lanes.settle(lane)
      return entry
    },
    get waiting() {
      return waiting
    },
    get inFlight() {
      return inFlight
    },
  }

  function tryLane(lane: Lane<Admit>): Entry | undefined {
    const retryAfterMs = breaker.findRest(keyOf(lane))
    if (retryAfterMs !== undefined) return { kind: 'broken', retryAfterMs }
    return inFlight < places && lanes.hasPlace(lane) ? occupy(lane) : undefined
  }

  function occupy(lane: Lane<Admit>): Entry {
    const isProbe = breaker.begin(keyOf(lane))
    countInFlight(lane, 1)
    let isIn = true
    return {
      kind: 'entered',
      leave(wasAnswered) {
        if (!isIn) return
        isIn = false
        countInFlight(lane, -1)
        breaker.end(keyOf(lane), isProbe, wasAnswered)
        sendBackIfBroken(lane)
        lanes.settle(lane)
        admit()
      },
    }
  }

  function waitInLine(lane: Lane<Admit>, signal: AbortSignal | undefined): Promise<Entry> {
    return new Promise((resolve, reject) => {
      const admitted: Admit = (entry) => {
        signal?.removeEventListener('abort', giveUp)
        resolve(entry)
      }
      const giveUp = () => {
        takeFromLine(lane, admitted)
        lanes.settle(lane)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp)
      lane.line.add(admitted)
      lane.workspace.waiting += 1
      waiting += 1
    })
  }

  /** Gives free places to those who wait. */
  function admit(): void {
    while (inFlight < places) {
      const lane = lanes.takeNext()
      if (lane === undefined) return
      sendBackIfBroken(lane)
      const [first] = lane.line
      if (first) {
        takeFromLine(lane, first)
        first(occupy(lane))
      }
      lanes.settle(lane)
    }
  }

  function sendBackIfBroken(lane: Lane<Admit>): void {
    const retryAfterMs = breaker.findRest(keyOf(lane))
    if (retryAfterMs === undefined) return
    for (const waiter of lane.line) {
      takeFromLine(lane, waiter)
      waiter({ kind: 'broken', retryAfterMs })
    }
  }

  function takeFromLine(lane: Lane<Admit>, waiter: Admit): void {
    lane.line.delete(waiter)
    lane.workspace.waiting -= 1
    waiting -= 1
  }

  function countInFlight(lane: Lane<Admit>, change: 1 | -1): void {
    inFlight += change
    lane.inFlight += change
    lane.workspace.inFlight += change
  }
}

function keyOf({ workspace, destination }: Lane<Admit>): string {
  return `${workspace.id} ${destination}`
}
