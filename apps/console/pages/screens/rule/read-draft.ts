import type { RuleDraft } from '@automation/client'
import { api } from '../../state/session.js'

/** @returns null where the rule has no draft. It asks for the marks first: what is not there would be an error in the log of the browser. */
export async function readDraft(id: string): Promise<RuleDraft | null> {
  const { rules } = await api().rules.rollouts({ ruleId: id })
  return rules.some(({ draft }) => draft !== null) ? api().rules.drafts.get(id) : null
}
