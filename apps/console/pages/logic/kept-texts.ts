/** Where the browser keeps something. */
export interface Store {
  get(name: string): string | null
  /** @returns false where the browser has no room, or keeps nothing */
  set(name: string, value: string): boolean
  remove(name: string): void
  names(): string[]
}

/** What a text that was typed and not saved is kept as: by user, workspace, rule and tab. Their first few name all below. */
export function nameOfText(...parts: string[]): string {
  return ['unsaved', ...parts.map(encodeURIComponent)].join(':')
}

/** How long (ms) it is kept. */
const keptMs = 30 * 86_400_000

/** Removes what is too old, of all users, and what cannot be read. @param now epoch ms */
export function removeOldTexts(store: Store, now: number): void {
  for (const name of store.names())
    if (name.startsWith(nameOfText('')) && !(now - readTime(store.get(name)) <= keptMs)) store.remove(name)
}

/** Removes all that a user has typed, in all tabs. */
export function removeTextsOf(store: Store, user: string): void {
  for (const name of listNamesOf(store, user)) store.remove(name)
}

export function countTextsOf(store: Store, user: string): number {
  return listNamesOf(store, user).length
}

function listNamesOf(store: Store, user: string): string[] {
  return store.names().filter((name) => name.startsWith(nameOfText(user, '')))
}

/** @returns NaN if there is none */
function readTime(text: string | null): number {
  try {
    return Number(JSON.parse(text ?? '').keptAt)
  } catch {
    return Number.NaN
  }
}
