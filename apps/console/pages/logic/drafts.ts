import type { Definition } from './rule-definition.js'

/** What somebody typed and has not saved. */
export interface Draft {
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

/** Keeps drafts in the browser, one for each rule: they survive a reload, a crash and the end of a session. */
export class Drafts {
  readonly #store: Store
  readonly #prefix: string

  constructor(store: Store, workspaceId: string) {
    this.#store = store
    this.#prefix = `draft:${workspaceId}:`
  }

  read(ruleId: string): Draft | undefined {
    try {
      const draft = JSON.parse(this.#store.getItem(this.#prefix + ruleId) ?? 'null') as Draft | null
      return draft !== null &&
        typeof draft.definition?.name === 'string' &&
        Array.isArray(draft.definition.actions)
        ? draft
        : undefined
    } catch {
      return undefined
    }
  }

  /** @returns false where the browser has no room, or keeps nothing */
  keep(ruleId: string, draft: Draft): boolean {
    try {
      this.#store.setItem(this.#prefix + ruleId, JSON.stringify(draft))
      return true
    } catch {
      return false
    }
  }

  drop(ruleId: string): void {
    this.#store.removeItem(this.#prefix + ruleId)
  }
}
