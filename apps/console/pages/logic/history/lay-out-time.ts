/** What an execution did for a time. epoch ms */
export interface Piece {
  kind: 'queue' | 'done' | 'failed' | 'running' | 'wait' | 'pause'
  from: number
  to: number
}

/** A piece where it is drawn, of 100. */
export interface PlacedPiece extends Piece {
  x: number
  width: number
}

/** A stretch in which nothing happened but waiting: it has the same width however long it was. */
export interface Fold {
  x: number
  width: number
  ms: number
}

/** What nothing happened in for longer than this is folded. */
const foldMs = 5_000
/** How wide a fold is, and how narrow anything may be. */
const foldWidth = 12
const least = 0.6

/** Places pieces side by side in time, where waiting for days leaves the milliseconds of the calls to be seen. */
export function layOutTime(pieces: readonly Piece[]): { pieces: PlacedPiece[]; folds: Fold[] } {
  const stretches = findStretches(pieces)
  const isFolded = (one: Stretch) => !one.isBusy && one.to - one.from > foldMs
  const folded = stretches.filter(isFolded)
  const rest = stretches.filter((one) => !isFolded(one)).reduce((sum, { from, to }) => sum + to - from, 0)
  const forFolds = rest === 0 ? 100 : Math.min(60, folded.length * foldWidth)
  const places = new Map<number, number>()
  const folds: Fold[] = []
  let x = 0
  for (const one of stretches) {
    places.set(one.from, x)
    const ms = one.to - one.from
    const width = isFolded(one) ? forFolds / folded.length : rest === 0 ? 0 : ((100 - forFolds) * ms) / rest
    if (isFolded(one)) folds.push({ x, width, ms })
    x += width
    places.set(one.to, x)
  }
  return {
    folds,
    pieces: pieces.map((piece) => {
      const begins = Math.min(places.get(piece.from) ?? 0, 100 - least)
      return { ...piece, x: begins, width: Math.max(least, (places.get(piece.to) ?? 0) - begins) }
    }),
  }
}

/** The pieces of an execution on one scale: of its actions each in a lane of its own. The first lane has what came before. */
export function layOutLanes({ queue, actions }: { queue: Piece[]; actions: Piece[][] }) {
  // Beside a wait alone, the moment until it began would be all that is seen.
  const isWorking = actions
    .flat()
    .some(({ kind, from, to }) => to > from && kind !== 'wait' && kind !== 'pause')
  const before = isWorking ? queue : []
  const { pieces, folds } = layOutTime([...before, ...actions.flat()])
  let at = before.length
  const lanes = actions.map((own, index) => {
    const placed = pieces.slice(at, at + own.length)
    at += own.length
    return index === 0 ? [...pieces.slice(0, before.length), ...placed] : placed
  })
  return { lanes, folds }
}

interface Stretch {
  from: number
  to: number
  isBusy: boolean
}

/** The time between the first moment and the last one, cut wherever something begins or ends; what is idle side by side is one stretch. */
function findStretches(pieces: readonly Piece[]): Stretch[] {
  const moments = [...new Set(pieces.flatMap(({ from, to }) => [from, to]))].toSorted(
    (left, right) => left - right,
  )
  return moments.slice(1).map((to, index) => {
    const from = moments[index] as number
    const isBusy = pieces.some(
      (piece) => piece.from < to && piece.to > from && piece.kind !== 'wait' && piece.kind !== 'pause',
    )
    return { from, to, isBusy }
  })
}
