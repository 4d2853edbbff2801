import { useState } from 'preact/hooks'
import { type DiffLine, diffLines } from '../logic/diff-lines.js'
import { foldLines } from '../logic/editing/fold-lines.js'
import { Source } from './source.js'

/** Two texts, line by line: a sign and a word for each change, beside its colour. What did not change is folded. */
export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const [isWhole, showAll] = useState(false)
  const lines = diffLines(before, after)
  if (lines.every(({ kind }) => kind === 'same')) return <p class="quiet">There is no difference.</p>
  const folds = foldLines(lines)
  return (
    <>
      <Source label={label} kind="diff">
        <pre>
          {folds.map(({ isFolded, lines: part }, index) =>
            isFolded && !isWhole ? (
              <span key={index} class="quiet">
                {`  ⋯ ${part.length} unchanged lines\n`}
              </span>
            ) : (
              <Lines key={index} lines={part} />
            ),
          )}
        </pre>
      </Source>
      {folds.some(({ isFolded }) => isFolded) && (
        <button type="button" class="link" onClick={() => showAll(!isWhole)}>
          {isWhole ? 'Show the changes only' : 'Show all lines'}
        </button>
      )}
    </>
  )
}

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <>
      {lines.map(({ kind, text }, index) => (
        <span key={index} class={kind}>
          {kind === 'added' ? '+ ' : kind === 'removed' ? '− ' : '  '}
          {text}
          {'\n'}
        </span>
      ))}
    </>
  )
}
