/** An action as the editor has it, of any type. */
export interface LooseAction {
  type: string
  config: Record<string, unknown>
  [option: string]: unknown
}

type Configs = Readonly<Record<string, Record<string, unknown>>>

/**
 * What an action had as another type: somebody who looks at another type and comes back finds the fields as they were. It lives as long as
 * the page, and belongs to the action itself, wherever it is moved to.
 */
export class KeptConfigs {
  readonly #kept = new WeakMap<LooseAction, Configs>()

  /** The same action after a change. */
  follow(before: LooseAction, after: LooseAction): LooseAction {
    const kept = this.#kept.get(before)
    if (kept !== undefined) this.#kept.set(after, kept)
    return after
  }

  /**
   * The action as one of another type. Its options stay, and so do fields that both types have.
   *
   * @param fresh a new action of that type
   * @param properties the names of the fields of that type
   */
  changeType(action: LooseAction, fresh: LooseAction, properties: readonly string[]): LooseAction {
    const kept = { ...this.#kept.get(action), [action.type]: action.config }
    const shared = Object.fromEntries(
      Object.entries(action.config).filter(([name]) => properties.includes(name)),
    )
    const config = { ...fresh.config, ...kept[fresh.type], ...shared }
    const changed = { ...action, type: fresh.type, config }
    this.#kept.set(changed, kept)
    return changed
  }
}
