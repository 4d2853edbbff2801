import type { Rule, RuleGuard } from '@automation/client'
import { Confirm } from '../../parts/confirm.js'
import { api, may } from '../../state/session.js'
import { useIdle } from '../../state/use-counts.js'
import { readAgain } from '../../state/use-query.js'
import { useRollouts } from '../../state/use-rollouts.js'

/** The way back in the head of a rule. It is read once the screen has what it shows, and left out where there is little room. */
export function RollBackInHead({ rule, reload }: Props) {
  const guard = useRollouts(rule.id, useIdle()).data?.find(({ id }) => id === rule.id)?.guard
  if (!guard) return null
  return (
    <span class="low">
      <RollBack {...{ rule, reload, guard }} />
    </span>
  )
}

interface Props {
  rule: Rule
  reload: () => Promise<unknown>
}

/** The way back from a promotion, for as long as its guard watches. */
export function RollBack({ rule, reload, guard }: Props & { guard: RuleGuard }) {
  const { version, previousVersion } = guard
  if (guard.trippedAt !== null || !may('editor')) return null
  return (
    <Confirm
      label="Roll back now"
      title={`Roll back now: ${rule.name} to v${previousVersion}`}
      reads="rollouts"
      work={() => api().rules.versions.restore(rule.id, previousVersion, { ifVersion: rule.version })}
      after={() => void Promise.all([readAgain('rules'), reload()])}
    >
      <p>
        v{previousVersion} is the rule again, as v{rule.version + 1}. v{version} stays in the versions, and
        its guard ends. Executions that have begun go on with the version that they began with.
      </p>
    </Confirm>
  )
}
