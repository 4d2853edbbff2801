import type { Definition } from './rule-definition.js'

/** What somebody typed and has not saved. */
export interface Unsaved {
  definition: Definition
  /** The version that it began with; 0 for a new rule. */
  baseVersion: number
  /** Of the draft of the workspace that it began with. */
  etag?: string | undefined
  /** Of the event that a new rule is made of. */
  eventId?: string | undefined
  /** JSON that is not finished yet, by the path of its field; '' for the whole definition. */
  texts?: Readonly<Record<string, string>> | undefined
  /** epoch ms */
  keptAt: number
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Keeps it in the browser, for each rule: it survives a reload, a crash and the end of a session. */
export class UnsavedChanges {
  readonly #store: Store
  readonly #prefix: string

  constructor(store: Store, workspaceId: string) {
    this.#store = store
    this.#prefix = `draft:${workspaceId}:`
  }

  read(ruleId: string): Unsaved | undefined {
    try {
      const unsaved = JSON.parse(this.#store.getItem(this.#prefix + ruleId) ?? 'null') as Unsaved | null
      return unsaved !== null &&
        typeof unsaved.definition?.name === 'string' &&
        Array.isArray(unsaved.definition.actions)
        ? unsaved
        : undefined
    } catch {
      return undefined
    }
  }

  /** @returns false where the browser has no room, or keeps nothing */
  keep(ruleId: string, unsaved: Unsaved): boolean {
    try {
      this.#store.setItem(this.#prefix + ruleId, JSON.stringify(unsaved))
      return true
    } catch {
      return false
    }
  }

  drop(ruleId: string): void {
    this.#store.removeItem(this.#prefix + ruleId)
  }
}
