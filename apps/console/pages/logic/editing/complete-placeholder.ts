/** A placeholder that somebody types. */
export interface Completion {
  of: 'field' | 'filter'
  typed: string
  /** The part of the text that a choice replaces. */
  from: number
  to: number
}

/** What can be completed where the caret stands: a field after `{{`, a filter after `|`. */
export function findCompletion(text: string, caret: number): Completion | undefined {
  const open = text.lastIndexOf('{{', caret - 1)
  if (open === -1 || open + 2 > caret || text[open - 1] === '\\') return undefined
  const inside = text.slice(open + 2, caret)
  if (inside.includes('}}') || inside.includes('\n')) return undefined
  const bar = inside.lastIndexOf('|')
  const part = inside.slice(bar + 1)
  // An argument of a filter may be anything.
  if (bar !== -1 && part.includes(':')) return undefined
  const typed = part.trimStart()
  const rest = /^[^\s{}|:"']*/.exec(text.slice(caret))?.[0] ?? ''
  return {
    of: bar === -1 ? 'field' : 'filter',
    typed,
    from: caret - typed.length,
    to: caret + rest.length,
  }
}

/** The text with the choice in it, and where the caret stands then: behind the placeholder, or for the argument of a filter. */
export function takeCompletion(
  text: string,
  { from, to }: Completion,
  choice: string,
): { text: string; caret: number } {
  const after = text.slice(to)
  const closes = /^\s*(\}\}|\|)/.exec(after)
  const inserted = `${choice}${closes ? '' : '}}'}`
  const needsArgument = choice.endsWith(':')
  const end = from + choice.length
  const behind = closes?.[1] === '}}' ? end + closes[0].length : closes ? end : end + 2
  return { text: text.slice(0, from) + inserted + after, caret: needsArgument ? end : behind }
}
