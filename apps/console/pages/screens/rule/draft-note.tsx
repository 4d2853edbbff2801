import type { RuleRollout } from '@automation/client'
import { nameActor } from '../../logic/name-actor.js'
import { useIdle } from '../../state/use-counts.js'
import { linkTo } from '../../state/use-filters.js'
import { useRollouts } from '../../state/use-rollouts.js'

export type DraftMark = NonNullable<RuleRollout['draft']>

/** The draft of the workspace that waits beside the rule, as the list of rules has read it, or once the screen has read what it needs. */
export function useDraftMark(ruleId: string): DraftMark | undefined {
  const isIdle = useIdle()
  const listed = useRollouts(undefined, false).data
  const { data = listed } = useRollouts(ruleId, isIdle && ruleId !== 'new')
  return data?.find(({ id }) => id === ruleId)?.draft ?? undefined
}

/** Who made it, and from what. @param version of the rule */
export function DraftNote({ ruleId, draft, version }: { ruleId: string; draft: DraftMark; version: number }) {
  return (
    <>
      Draft by {nameActor(draft.savedBy)}, made from v{draft.basedOn}
      {draft.basedOn < version && ', an older version'} ·{' '}
      <a href={linkTo(`rules/${ruleId}`, { tab: 'rollout' })}>Open</a>
    </>
  )
}
