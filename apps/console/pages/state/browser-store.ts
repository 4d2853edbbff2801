/**
 * What the browser keeps of this page. It may have no room, or keep nothing at all: then nothing is kept, and the page works all the same.
 */
export class BrowserStore {
  readonly #open: () => Storage

  constructor(open: () => Storage) {
    this.#open = open
  }

  get(name: string): string | null {
    try {
      return this.#open().getItem(name)
    } catch {
      return null
    }
  }

  /** @returns false: it is not kept */
  set(name: string, value: string): boolean {
    try {
      this.#open().setItem(name, value)
      return true
    } catch {
      return false
    }
  }

  remove(name: string): void {
    try {
      this.#open().removeItem(name)
    } catch {
      // It keeps nothing.
    }
  }

  clear(): void {
    try {
      this.#open().clear()
    } catch {
      // It keeps nothing.
    }
  }

  names(): string[] {
    try {
      return Object.keys(this.#open())
    } catch {
      return []
    }
  }
}

/** For all tabs, also after a crash. */
export const kept = new BrowserStore(inFrame ? inMemory() : () => localStorage)
/** For this tab, also after a reload. */
export const keptInTab = new BrowserStore(inFrame ? inMemory() : () => sessionStorage)

/** A frame shares the origin of the console, and nothing that the console keeps: what it has goes with its page. */
function inMemory(): () => Storage {
  const texts = new Map<string, string>()
  const store = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => texts.set(name, text),
    removeItem: (name: string) => texts.delete(name),
    clear: () => texts.clear(),
  }
  return () => Object.assign(Object.create(store), Object.fromEntries(texts))
}

export const invitationName = 'invitation'
