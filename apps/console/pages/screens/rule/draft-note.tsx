import type { RuleRollout } from '@automation/client'
import { nameActor } from '../../logic/name-actor.js'
import { linkTo } from '../../state/use-filters.js'

export type DraftMark = NonNullable<RuleRollout['draft']>

/** The draft that waits beside the rule: who made it, and from what. @param version of the rule */
export function DraftNote({ ruleId, draft, version }: { ruleId: string; draft: DraftMark; version: number }) {
  return (
    <>
      <span class="cut">
        Draft by {nameActor(draft.savedBy)}, made from v{draft.basedOn}
        {draft.basedOn < version && ', an older version'}
      </span>
      <a href={linkTo(`rules/${ruleId}`, { tab: 'rollout' })}>Open</a>
    </>
  )
}
