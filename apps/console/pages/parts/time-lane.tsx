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

/** What the width of all lanes stands for. */
export function TimeScale({
  lanes,
  folds,
}: {
  lanes: readonly (readonly PlacedPiece[])[]
  folds: readonly Fold[]
}) {
  const pieces = lanes.flat()
  if (pieces.length === 0) return null
  const queued = pieces.find(({ kind }) => kind === 'queue')
  const wholeMs = Math.max(...pieces.map(({ to }) => to)) - Math.min(...pieces.map(({ from }) => from))
  return (
    <p class="sub row spread lane-scale">
      <span>0{queued && `, grey: queued for ${formatDuration(queued.to - queued.from)}`}</span>
      {folds.length > 0 && <span>shortened: {folds.map(({ ms }) => formatDuration(ms)).join(', ')}</span>}
      <span>{formatDuration(wholeMs)}</span>
    </p>
  )
}

/** What one action did, in the time of the whole execution. */
export function TimeLane({ pieces, folds }: { pieces: readonly PlacedPiece[]; folds: readonly Fold[] }) {
  if (pieces.length === 0) return null
  const said = pieces.map(({ kind, from, to }) =>
    kind === 'done' && from === to ? 'done at once' : `${words[kind]} ${formatDuration(to - from)}`,
  )
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
      {folds.map(({ x, width }) => (
        <path key={x} class="lane-break" d={`M${x + width / 2 - 0.5},0v8m1,0v-8`} />
      ))}
    </svg>
  )
}
