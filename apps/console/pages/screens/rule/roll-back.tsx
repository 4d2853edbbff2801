import type { Rule, RuleGuard } from '@automation/client'
import { ConfirmDialog } from '../../parts/confirm.js'
import { api } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { readAgain } from '../../state/use-query.js'

export interface RollBackProps {
  rule: Rule
  /** It watches. */
  guard: RuleGuard
  /** The editor has changes that are not saved. */
  isChanged: boolean
  reload: () => Promise<unknown>
}

/** The way back from a promotion, for as long as its guard watches. */
export function RollBack({ rule, guard, isChanged, reload }: RollBackProps) {
  const { version, previousVersion } = guard
  const result = `v${previousVersion} is the rule again, as v${rule.version + 1}.`
  const kept = isChanged ? ' Your unsaved changes stay in the editor.' : ''
  const after = () => {
    toast(result + kept)
    void Promise.all([readAgain('rules'), reload()])
  }
  return (
    <ConfirmDialog
      label="Roll back now"
      title={`Roll back ${rule.name} to v${previousVersion}`}
      reads="rollouts"
      work={() => api().rules.versions.restore(rule.id, previousVersion, { ifVersion: rule.version })}
      after={after}
    >
      <p>
        {result} v{version} stays in the versions, and its guard ends. Executions that have begun go on with
        the version that they began with.
        {kept}
      </p>
    </ConfirmDialog>
  )
}
