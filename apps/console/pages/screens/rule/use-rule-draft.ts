import type { Rule } from '@automation/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Drafts } from '../../logic/drafts.js'
import { type Definition, definitionOf, isSame } from '../../logic/rule-definition.js'
import { workspaceId } from '../../state/session.js'

/**
 * What is typed, kept in the browser at each change. The saved rule may change meanwhile: the draft stays as it is, and saving names
 * the version that it began with.
 */
export function useRuleDraft(ruleId: string, saved: Rule | undefined, template: Definition) {
  const drafts = useMemo(() => new Drafts(localStorage, workspaceId.peek() ?? ''), [])
  const [draft, setDraft] = useState(() => drafts.read(ruleId))
  const base = saved === undefined ? template : definitionOf(saved)
  const definition = draft?.definition ?? base
  const isChanged = draft !== undefined && !isSame(draft.definition, base)
  const [isKept, setKept] = useState(true)

  useEffect(() => {
    if (draft !== undefined) setKept(drafts.keep(ruleId, draft))
  }, [draft])

  return {
    definition,
    isChanged,
    /** false where the browser has no room for the draft. */
    isKept,
    keptAt: draft?.keptAt,
    baseVersion: draft?.baseVersion ?? saved?.version ?? 0,
    change(next: Definition) {
      const baseVersion = draft?.baseVersion ?? saved?.version ?? 0
      setDraft({ ...draft, definition: next, baseVersion, keptAt: Date.now() })
    },
    etag: draft?.etag,
    /** Begins with the draft of the workspace. */
    edit(next: Definition, baseVersion: number, etag: string) {
      setDraft({ definition: next, baseVersion, etag, keptAt: Date.now() })
    },
    /** Puts the draft on top of a newer version. */
    rebase(version: number) {
      if (draft) setDraft({ ...draft, baseVersion: version, keptAt: Date.now() })
    },
    drop() {
      drafts.drop(ruleId)
      setDraft(undefined)
    },
  }
}
