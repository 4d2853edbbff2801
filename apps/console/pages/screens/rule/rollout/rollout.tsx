import { useEffect } from 'preact/hooks'
import { Stale, Unread } from '../../../parts/states.js'
import { useRollouts } from '../../../state/use-rollouts.js'
import { DraftCard, type RuleEditing } from './draft-card.js'
import { GuardCard } from './guard-card.js'
import { ShadowCard } from './shadow-card.js'

/** The ways of a change to its effects: as a draft beside the rule, as a shadow, and promoted under a guard. */
export function Rollout({ rule, unsaved, reload }: RuleEditing) {
  const marks = useRollouts(rule.id)
  const found = marks.data?.find(({ id }) => id === rule.id)
  const mark = found?.draft ?? null
  const guard = found?.guard ?? null
  useEffect(() => {
    // It has just restored the previous version.
    if ((guard?.restoredVersion ?? 0) > rule.version) void reload()
  }, [guard?.restoredVersion])
  if (!marks.data) return <Unread {...marks} what="the draft and the guard" rows={6} />
  return (
    <>
      {marks.error && <Stale error={marks.error} since={marks.dataUpdatedAt} />}
      <div class="rollout">
        <DraftCard {...{ rule, mark, unsaved, reload }} />
        <ShadowCard {...{ rule, reload }} isDrafted={mark !== null} />
        {rule.mode === 'live' && <GuardCard {...{ rule, guard, reload }} isChanged={unsaved.isChanged} />}
      </div>
    </>
  )
}
