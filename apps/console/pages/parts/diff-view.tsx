import { diffLines } from '../logic/diff-lines.js'
import { Source } from './source.js'

/** Two texts, line by line: a sign and a word for each change, beside its colour. */
export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = diffLines(before, after)
  if (lines.every(({ kind }) => kind === 'same')) return <p class="quiet">There is no difference.</p>
  return (
    <Source label={label} kind="diff">
      <pre>
        {lines.map(({ kind, text }, index) => (
          <span key={index} class={kind}>
            {kind === 'added' ? '+ ' : kind === 'removed' ? '− ' : '  '}
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </Source>
  )
}
