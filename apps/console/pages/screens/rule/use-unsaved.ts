import type { Rule } from '@automation/client'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { findChangedPath } from '../../logic/editing/find-changed-path.js'
import { mergeDefinitions } from '../../logic/editing/merge-definitions.js'
import { UndoHistory } from '../../logic/editing/undo-history.js'
import { findEmpty } from '../../logic/kept-secrets.js'
import { type Definition, definitionOf, isSame } from '../../logic/rule-definition.js'
import type { Unsaved, UnsavedChanges } from '../../logic/unsaved-changes.js'
import { hasEnded } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { noteUnkept } from '../../state/typed.js'

const nothing = { isKept: true, isWhole: true }

export type UnsavedState = ReturnType<typeof useUnsaved>

/**
 * What is typed, kept in the browser at each change, and what it was before each change. The saved rule may change meanwhile: what is typed stays
 * as it is, and saving names the version that it began with.
 */
export function useUnsaved(
  ruleId: string,
  saved: Rule | undefined,
  template: Definition,
  eventId: string | undefined,
  store: UnsavedChanges,
) {
  const history = useMemo(() => new UndoHistory<Definition>(), [])
  const base = saved === undefined ? template : definitionOf(saved)
  const [unsaved, setUnsaved] = useState(() => store.read(ruleId, base))
  const definition = unsaved?.definition ?? base
  const isChanged = unsaved !== undefined && !isSame(unsaved.definition, base)
  const [isKept, setKept] = useState(true)
  // What a notice takes back is what stands there when somebody presses it.
  const current = useRef({ definition, unsaved })
  current.current = { definition, unsaved }

  // Before it is drawn: what the page calls kept is kept.
  useLayoutEffect(() => {
    // Signing out elsewhere removes it: it is kept again once the user is back.
    if (hasEnded.value) return
    const { isKept, isWhole } = unsaved ? store.keep(ruleId, unsaved, base) : nothing
    setKept(isKept)
    noteUnkept(history, !isWhole)
    return () => noteUnkept(history, false)
  }, [unsaved, hasEnded.value])

  function write(changes: Partial<Unsaved>): void {
    const { unsaved: known, definition: now } = current.current
    const baseVersion = known?.baseVersion ?? saved?.version ?? 0
    const next = { eventId, ...known, definition: now, baseVersion, ...changes, keptAt: Date.now() }
    // What says the same as the saved rule is nothing unsaved: on top of a later version it would look like a change.
    const isIdle = isSame(next.definition, base) && Object.keys(next.texts ?? {}).length === 0
    if (isIdle && next.etag === undefined) {
      drop()
      return
    }
    // A second change may come before the page is drawn.
    current.current = { definition: next.definition, unsaved: next }
    setUnsaved(next)
  }

  function drop(): void {
    store.drop(ruleId)
    current.current = { definition: base, unsaved: undefined }
    setUnsaved(undefined)
  }

  return {
    definition,
    isChanged,
    /** false where the browser has no room for it. */
    isKept,
    keptAt: unsaved?.keptAt,
    /** Names of secrets that were typed before the page was loaded, and are empty now. */
    missing: findEmpty({ definition, texts: unsaved?.texts }, unsaved?.missing ?? []),
    baseVersion: unsaved?.baseVersion ?? saved?.version ?? 0,
    change(next: Definition) {
      history.note(definition, next, Date.now())
      const listsOf = ({ conditions, actions }: Definition) => ({ conditions, actions })
      const path = findChangedPath(listsOf(definition), listsOf(next)) ?? 'elsewhere'
      // Actions that came, went or moved have other places now.
      const isMoved = ['', 'actions', 'conditions'].includes(path)
      write({ definition: next, ...(isMoved && { texts: undefined }) })
    },
    undo: () => {
      const before = history.undo(definition)
      if (before) write({ definition: before })
    },
    redo: () => {
      const next = history.redo(definition)
      if (next) write({ definition: next })
    },
    canUndo: history.canUndo,
    canRedo: history.canRedo,
    /** Takes one change back, whatever came after it. */
    takeBack(before: Definition, after: Definition) {
      const { definition: now } = current.current
      const { merged } = mergeDefinitions(after, now, before)
      history.note(now, merged, Date.now())
      write({ definition: merged })
    },
    texts: unsaved?.texts ?? {},
    /** @param text undefined: what was typed is whole now */
    keepText(path: string, text: string | undefined) {
      const { [path]: known, ...others } = current.current.unsaved?.texts ?? {}
      if (known === text) return
      const texts = text === undefined ? others : { ...others, [path]: text }
      write({ texts })
    },
    etag: unsaved?.etag,
    /** Begins with the draft of the workspace. */
    edit(next: Definition, baseVersion: number, etag: string) {
      setUnsaved({ definition: next, baseVersion, etag, keptAt: Date.now() })
    },
    /** Puts it on top of a newer version. */
    rebase(version: number, next: Definition = definition) {
      history.note(definition, next, Date.now())
      write({ definition: next, baseVersion: version })
    },
    /** What was saved is the rule now, or its draft. What was typed meanwhile stays, on top of it. */
    settle(
      done: Definition,
      baseVersion: number,
      { id = ruleId, etag }: { id?: string; etag?: string } = {},
    ) {
      const { unsaved: now } = current.current
      const isMore = now && (!isSame(now.definition, done) || Object.keys(now.texts ?? {}).length > 0)
      if (isMore && id === ruleId) return setUnsaved({ ...now, baseVersion, etag })
      if (isMore) store.keep(id, { ...now, baseVersion }, done)
      drop()
    },
    drop,
    /** Drops it on request: a notice brings it back. */
    discard() {
      const dropped = current.current.unsaved
      drop()
      toast('Your changes were discarded', { undo: () => dropped && setUnsaved(dropped) })
    },
  }
}
