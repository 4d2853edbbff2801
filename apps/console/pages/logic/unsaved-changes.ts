import { bringSecrets, hideSecrets } from './kept-secrets.js'
import { nameOfText, type Store } from './kept-texts.js'
import { type Definition, isSame } from './rule-definition.js'

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
  /** Names of secrets that were typed and not kept. */
  missing?: readonly string[] | undefined
  /** epoch ms */
  keptAt: number
}

/** What one tab has kept for a rule. */
export interface KeptChanges {
  tab: string
  unsaved: Unsaved
}

interface Owner {
  /** As the audit log names them: nobody else sees what they typed. */
  user: string
  workspaceId: string
  tab: string
}

/**
 * Keeps it in the browser, for each rule and each tab: it survives a reload, a crash and the end of a session. A tab writes and drops its own
 * only. What another tab has kept is taken over once somebody wants it, and that tab is gone.
 */
export class UnsavedChanges {
  readonly #store: Store
  readonly #owner: Owner

  constructor(store: Store, owner: Owner) {
    this.#store = store
    this.#owner = owner
  }

  /** @param saved has the secrets that are not kept */
  read(ruleId: string, saved?: Definition): Unsaved | undefined {
    const unsaved = this.#read(this.#nameOf(ruleId))
    return unsaved && { ...unsaved, ...bringSecrets(unsaved, ownerOf(unsaved, saved)) }
  }

  /**
   * @param saved has the secrets that are not kept
   * @returns whether the browser keeps it, which may have no room, and whether nothing of it would be lost with the page
   */
  keep(
    ruleId: string,
    { missing: _, ...unsaved }: Unsaved,
    saved?: Definition,
  ): { isKept: boolean; isWhole: boolean } {
    const { isWhole, ...hidden } = hideSecrets(unsaved, ownerOf(unsaved, saved))
    const isKept = this.#store.set(this.#nameOf(ruleId), JSON.stringify({ ...unsaved, ...hidden }))
    return { isKept, isWhole: isKept && isWhole }
  }

  drop(ruleId: string): void {
    this.#store.remove(this.#nameOf(ruleId))
  }

  /** What other tabs have kept for the rule, the newest first; not what says the same as this one. */
  listOthers(ruleId: string): KeptChanges[] {
    const own = this.#read(this.#nameOf(ruleId))
    const begin = this.#nameOf(ruleId, '')
    return this.#store
      .names()
      .filter((name) => name.startsWith(begin) && name !== this.#nameOf(ruleId))
      .flatMap((name) => {
        const unsaved = this.#read(name)
        const tab = decodeURIComponent(name.slice(begin.length))
        return unsaved === undefined || (own && saysSame(own, unsaved)) ? [] : [{ tab, unsaved }]
      })
      .sort((one, other) => other.unsaved.keptAt - one.unsaved.keptAt)
  }

  /**
   * What another tab has kept becomes this tab's, and what this tab has is set aside. It is never less than once in the store: a crash in between
   * leaves it twice.
   *
   * @returns false where the browser has no room for it
   */
  take(ruleId: string, from: string): boolean {
    const text = this.#store.get(this.#nameOf(ruleId, from))
    if (text === null || !this.setAside(ruleId)) return false
    if (!this.#store.set(this.#nameOf(ruleId), text)) return false
    this.dropOf(ruleId, from)
    return true
  }

  /** Keeps what this tab has as if another tab had, which is gone. */
  setAside(ruleId: string): boolean {
    const own = this.#store.get(this.#nameOf(ruleId))
    return own === null || this.#store.set(this.#nameOf(ruleId, crypto.randomUUID()), own)
  }

  dropOf(ruleId: string, tab: string): void {
    this.#store.remove(this.#nameOf(ruleId, tab))
  }

  bringBack(ruleId: string, { tab, unsaved }: KeptChanges): void {
    this.#store.set(this.#nameOf(ruleId, tab), JSON.stringify(unsaved))
  }

  #nameOf(ruleId: string, tab = this.#owner.tab): string {
    return nameOfText(this.#owner.user, this.#owner.workspaceId, ruleId, tab)
  }

  #read(name: string): Unsaved | undefined {
    return parse(this.#store.get(name))
  }
}

/** A draft of the workspace has secrets of its own, which the rule does not know. */
function ownerOf({ etag }: Unsaved, saved: Definition | undefined): Definition | undefined {
  return etag === undefined ? saved : undefined
}

function parse(text: string | null): Unsaved | undefined {
  try {
    const unsaved = JSON.parse(text ?? 'null') as Unsaved | null
    return unsaved !== null &&
      typeof unsaved.keptAt === 'number' &&
      typeof unsaved.definition?.name === 'string' &&
      Array.isArray(unsaved.definition.conditions) &&
      Array.isArray(unsaved.definition.actions)
      ? unsaved
      : undefined
  } catch {
    return undefined
  }
}

function saysSame(one: Unsaved, other: Unsaved): boolean {
  return (
    isSame(one.definition, other.definition) &&
    JSON.stringify(one.texts ?? {}) === JSON.stringify(other.texts ?? {})
  )
}
