import type { ComponentChildren } from 'preact'
import { describeError } from '../state/use-query.js'

export function Loading({ what }: { what: string }) {
  return (
    <p class="state quiet" role="status">
      Loading {what}…
    </p>
  )
}

/** What would be here, why it is empty, and what fills it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, text } = describeError(error)
  return (
    <div class="state problem" role="alert">
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** One line above what was read before, while it cannot be read again. */
export function Stale({ error, since }: { error: unknown; since: string }) {
  return (
    <p class="notice" role="status">
      {describeError(error).title}. This is what was known at {since}.
    </p>
  )
}
