import type { ActionResult, Execution } from '@automation/client'
import type { Piece } from './lay-out-time.js'

type Timed = Pick<Execution, 'startedAt' | 'finishedAt' | 'results'>

/** The time of an execution: until it began, and then of each of its actions. */
export interface ExecutionTime {
  queue: Piece[]
  /** One list for each action. */
  actions: Piece[][]
}

/** @param acceptedMs when its event was accepted. @param nowMs what is in progress ends now. epoch ms, both */
export function listPieces(
  { startedAt, finishedAt, results }: Timed,
  acceptedMs: number,
  nowMs: number,
): ExecutionTime {
  if (startedAt === null)
    return { queue: [{ kind: 'queue', from: acceptedMs, to: Math.max(acceptedMs, nowMs) }], actions: [] }
  const startedMs = Date.parse(startedAt)
  const endMs = finishedAt === null ? Math.max(nowMs, startedMs) : Date.parse(finishedAt)
  let at = startedMs
  const actions = results.map((result) => {
    const pieces = listActionPieces(result, at, endMs)
    at = Math.max(at, ...pieces.map(({ to }) => to))
    return pieces
  })
  // Clocks of two processes may differ by a moment.
  return {
    queue: acceptedMs < startedMs ? [{ kind: 'queue', from: acceptedMs, to: startedMs }] : [],
    actions,
  }
}

/** @param at when the action before it ended */
function listActionPieces(
  { attempts = [], until, status, action }: ActionResult,
  at: number,
  endMs: number,
): Piece[] {
  const pieces: Piece[] = []
  let last = at
  for (const { startedAt, finishedAt, error } of attempts) {
    const from = Math.max(last, Date.parse(startedAt))
    if (pieces.length > 0 && from > last) pieces.push({ kind: 'pause', from: last, to: from })
    last = finishedAt === undefined ? Math.max(from, endMs) : Math.max(from, Date.parse(finishedAt))
    pieces.push({
      kind: error !== undefined ? 'failed' : finishedAt === undefined ? 'running' : 'done',
      from,
      to: last,
    })
  }
  // What the commit does takes no time, and has its place.
  if (until === undefined && pieces.length === 0 && status === 'success')
    pieces.push({ kind: 'done', from: at, to: at })
  if (until === undefined) return pieces
  const to =
    status === 'scheduled' || status === 'retrying'
      ? Math.max(last, Date.parse(until))
      : Math.min(Date.parse(until), endMs)
  if (to > last) pieces.push({ kind: action === 'WAIT' ? 'wait' : 'pause', from: last, to })
  return pieces
}

/** How long it worked and how long it waited until now, in ms. */
export function sumTime({ actions }: ExecutionTime, nowMs: number): { worked: number; waited: number } {
  const sum = (isWait: boolean) =>
    actions
      .flat()
      .filter(({ kind }) => (kind === 'wait' || kind === 'pause') === isWait)
      .reduce((total, { from, to }) => total + Math.max(0, Math.min(to, nowMs) - from), 0)
  return { worked: sum(false), waited: sum(true) }
}
