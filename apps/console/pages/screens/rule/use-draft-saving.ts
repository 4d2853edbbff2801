import { ApiError, type RuleDraft } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useFilters } from '../../state/use-filters.js'
import { describeError, readAgain } from '../../state/use-query.js'
import type { RuleDraftState } from './use-rule-draft.js'
import type { Saving } from './use-saving.js'

/** Saves what was typed as the draft of the workspace, and only over the draft and the version that it began with. */
export function useDraftSaving({ id, draft, saving }: { id: string; draft: RuleDraftState; saving: Saving }) {
  const { set } = useFilters()
  const [isBusy, setBusy] = useState(false)
  const [theirs, setTheirs] = useState<RuleDraft>()

  async function save(ifTag = draft.etag ?? `"${draft.baseVersion}"`): Promise<void> {
    if (isBusy) return
    setBusy(true)
    saving.setProblem(undefined)
    try {
      await api().rules.drafts.save(id, draft.definition as never, { ifTag })
      setTheirs(undefined)
      draft.drop()
      await readAgain('rollouts')
      set({ tab: 'rollout' })
    } catch (error) {
      const { title, text } = describeError(error)
      if (error instanceof ApiError && error.status === 412) await compare()
      else if (error instanceof ApiError && error.errors) saving.showFaults(error.errors)
      else saving.setProblem(`Not saved. ${title}. ${text}`)
    } finally {
      setBusy(false)
    }
  }

  /** Somebody has saved another draft, or there is none and the rule is another one. */
  async function compare(): Promise<void> {
    const found = await readDraft(id)
    if (found === null) await saving.compare()
    else setTheirs(found)
  }

  return { save, isBusy, theirs, close: () => setTheirs(undefined) }
}

/** @returns null where the rule has no draft. It asks for the marks first: what is not there would be an error in the log of the browser. */
export async function readDraft(id: string): Promise<RuleDraft | null> {
  const { rules } = await api().rules.rollouts({ ruleId: id })
  return rules.some(({ draft }) => draft !== null) ? api().rules.drafts.get(id) : null
}
