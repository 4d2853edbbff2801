import type { BacktestPage } from '@automation/client'
import { useState } from 'preact/hooks'
import { Mark } from '../../../parts/mark.js'
import { Alert, ReadState } from '../../../parts/states.js'
import { When } from '../../../parts/when.js'
import { api, may } from '../../../state/session.js'
import { useChange } from '../../../state/use-change.js'
import { useFilters } from '../../../state/use-filters.js'
import { useQuery } from '../../../state/use-query.js'
import { isBacktestRunning } from './use-backtest.js'

/** Those of this rule, and what else runs in the workspace: it may have five at a time. Read when somebody opens it. */
export function EarlierBacktests({
  ruleId,
  shownId,
}: {
  ruleId: string | undefined
  shownId: string | undefined
}) {
  const { set } = useFilters()
  const [isOpen, open] = useState(false)
  const { change, problem } = useChange('backtests')
  const found = useQuery<BacktestPage>({
    key: isOpen ? ['backtests', shownId] : undefined,
    read: () => api().rules.backtests.list({ limit: 100 }),
    pollMs: false,
  })
  const listed = (found.data?.backtests ?? []).filter(
    (one) => isBacktestRunning(one) || (one.ruleId !== null && one.ruleId === ruleId),
  )
  return (
    <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>Earlier backtests</summary>
      {isOpen && <ReadState {...found} what="the backtests" />}
      {found.data && listed.length === 0 && <p class="quiet">None of this rule in the last 30 days.</p>}
      <ul class="plan earlier">
        {listed.map((one) => (
          <li key={one.id} class="row spread">
            <button
              type="button"
              class="link"
              aria-current={one.id === shownId ? 'true' : undefined}
              onClick={() => set({ backtest: one.id })}
            >
              <When at={one.from} /> to <When at={one.to} />
            </button>
            <span class="row">
              <Mark of={one.status} />
              {one.ruleId !== (ruleId ?? null) && (
                <span class="quiet">
                  {one.ruleId === null ? 'of a rule not saved yet' : 'of another rule'}
                </span>
              )}
              {isBacktestRunning(one) && may('operator') && (
                <button
                  type="button"
                  class="small"
                  onClick={() => change(() => api().rules.backtests.cancel(one.id))}
                >
                  Cancel
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      <Alert isSmall>{problem}</Alert>
    </details>
  )
}
