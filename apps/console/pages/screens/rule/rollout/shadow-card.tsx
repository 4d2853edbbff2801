import type { Rule, RuleComparison } from '@automation/client'
import { useState } from 'preact/hooks'
import { definitionOf } from '../../../logic/rule-definition.js'
import { Confirm } from '../../../parts/confirm.js'
import { Mark } from '../../../parts/mark.js'
import { Alert, ReadState } from '../../../parts/states.js'
import { When } from '../../../parts/when.js'
import { api, may } from '../../../state/session.js'
import { useChange } from '../../../state/use-change.js'
import { useQuery } from '../../../state/use-query.js'
import { DifferenceView, nextComparisonMs, waitSeconds } from './difference-view.js'

interface Props {
  rule: Rule
  reload: () => Promise<Rule | undefined>
  /** Then the draft is computed first: a screen opens with three requests. */
  isDrafted: boolean
}

/** A rule that is evaluated and does nothing. */
export function ShadowCard({ rule, reload, isDrafted }: Props) {
  return (
    <section class={rule.mode === 'shadow' ? 'card whole' : 'card'} aria-labelledby="shadow">
      <div class="row spread">
        <h2 id="shadow">Shadow mode</h2>
        {rule.mode === 'shadow' && <Mark of="shadow" word="on" />}
      </div>
      {rule.mode === 'shadow' ? (
        <InShadow {...{ rule, reload, isDrafted }} />
      ) : (
        <Live {...{ rule, reload }} />
      )}
    </section>
  )
}

function Live({ rule, reload }: Omit<Props, 'isDrafted'>) {
  return (
    <>
      <p>
        A rule in shadow mode does nothing, and shows what it would have done. This rule is not in shadow
        mode.
      </p>
      {may('publish') ? (
        <Confirm
          label="Put into shadow mode"
          title={`Put into shadow mode: ${rule.name}`}
          work={() => api().rules.update(rule.id, { mode: 'shadow' }, { ifVersion: rule.version })}
          reads="rules"
          after={() => void reload()}
        >
          <p>
            {rule.isActive
              ? 'It is switched off, and its waiting executions are cancelled.'
              : 'It is off, and stays off.'}{' '}
            From then on it says what it would have done.
          </p>
        </Confirm>
      ) : (
        <p class="quiet">Editors can put it into shadow mode.</p>
      )}
    </>
  )
}

function InShadow({ rule, reload, isDrafted }: Props) {
  const [isWanted, want] = useState(!isDrafted)
  const found = useQuery<RuleComparison>({
    key: isWanted ? ['difference', rule.id, rule.updatedAt] : undefined,
    read: () => api().rules.drafts.difference(rule.id, { wait: waitSeconds }),
    pollMs: nextComparisonMs,
  })
  const { change, problem, isBusy } = useChange('rules')
  const leave = (isActive: boolean) =>
    change(async () => {
      await api().rules.update(
        rule.id,
        { mode: 'live', ...(isActive && { isActive }) },
        { ifVersion: rule.version },
      )
      await reload()
    })
  return (
    <>
      <p>
        It does nothing. This is what it would have done since its last change, <When at={rule.updatedAt} />.
      </p>
      {may('publish') && (
        <div class="row">
          <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void leave(true)}>
            Switch it on
          </button>
          <button type="button" aria-disabled={isBusy} onClick={() => void leave(false)}>
            Leave shadow mode, switched off
          </button>
        </div>
      )}
      <Alert>{problem}</Alert>
      {!isWanted && (
        <button type="button" onClick={() => want(true)}>
          Compute
        </button>
      )}
      {isWanted && <ReadState {...found} what="what it would have done" rows={3} />}
      {found.data && (
        <DifferenceView
          comparison={found.data}
          definition={definitionOf(rule)}
          word="the shadow"
          look={() => found.refetch()}
          isLooking={found.isFetching}
        />
      )}
    </>
  )
}
