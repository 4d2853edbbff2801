import { formatDuration } from '../logic/format-time.js'
import type { Fold, PlacedPiece } from '../logic/history/lay-out-time.js'

const words: Record<PlacedPiece['kind'], string> = {
  queue: 'queued',
  done: 'attempt',
  failed: 'failed attempt',
  running: 'in progress',
  wait: 'waited',
  pause: 'paused',
}

/** What one action did, in the time of the whole execution. */
export function TimeLane({ pieces, folds }: { pieces: readonly PlacedPiece[]; folds: readonly Fold[] }) {
  if (pieces.length === 0) return null
  const said = pieces.map(({ kind, from, to }) => `${words[kind]} ${formatDuration(to - from)}`)
  return (
    <svg class="lane" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={said.join(', ')}>
      {folds.map(({ x, width }) => (
        <rect key={x} class="lane-fold" x={x} width={width} y="0" height="8" />
      ))}
      {pieces.map(({ kind, x, width }, index) => (
        <rect key={index} class={`lane-${kind}`} x={x} width={width} y="1" height="6">
          <title>{said[index]}</title>
        </rect>
      ))}
    </svg>
  )
}
