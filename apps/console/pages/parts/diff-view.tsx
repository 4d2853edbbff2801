import { diffLines } from '../logic/diff-lines.js'

/** Two texts, line by line: a sign and a word for each change, beside its colour. */
export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = diffLines(before, after)
  if (lines.every(({ kind }) => kind === 'same')) return <p class="quiet">There is no difference.</p>
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.map(({ kind, text }, index) => (
        <span key={index} class={kind}>
          {kind === 'added' ? '+ ' : kind === 'removed' ? '− ' : '  '}
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
