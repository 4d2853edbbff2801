import type { ComponentChildren } from 'preact'

export type Tone = 'bad' | 'wait' | 'good' | 'none'

/** A word or a count that cannot be pressed. Red is broken, amber waits, green is done; everything else is grey. */
export function Badge({ tone = 'none', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}
