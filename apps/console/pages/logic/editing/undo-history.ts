import { findChangedPath } from './find-changed-path.js'

/** Changes of one place within so long (ms) are undone together, as a word is that was typed. */
const togetherMs = 1_500
const mostKept = 100

/** What a definition was before each change. */
export class UndoHistory<State> {
  #past: State[] = []
  #future: State[] = []
  #last: { path: string; at: number } | undefined

  /** @param at epoch ms */
  note(before: State, after: State, at: number): void {
    const path = findChangedPath(before, after)
    if (path === undefined) return
    // Of a list each item comes and goes by itself.
    const isTyped = !/(^|\.)(conditions|actions|all|any|that|where)$/.test(path)
    const isTogether = isTyped && this.#last?.path === path && at - this.#last.at < togetherMs
    if (!isTogether) this.#past = [...this.#past, before].slice(-mostKept)
    this.#last = { path, at }
    this.#future = []
  }

  /** @returns undefined if there is nothing to undo */
  undo(current: State): State | undefined {
    const state = this.#past.pop()
    if (state !== undefined) this.#future.push(current)
    this.#last = undefined
    return state
  }

  redo(current: State): State | undefined {
    const state = this.#future.pop()
    if (state !== undefined) this.#past.push(current)
    this.#last = undefined
    return state
  }

  get canUndo(): boolean {
    return this.#past.length > 0
  }

  get canRedo(): boolean {
    return this.#future.length > 0
  }
}
