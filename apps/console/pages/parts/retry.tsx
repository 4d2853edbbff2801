import type { Execution, ExecutionsToRetry } from '@automation/client'
import { useRef, useState } from 'preact/hooks'
import { formatCount } from '../logic/count-words.js'
import { api, may } from '../state/session.js'
import { useChange } from '../state/use-change.js'
import { Bulk } from './bulk.js'

/** Two named ways: from here with the version that ran, or with the rule as it is now. */
export function Retry({ execution }: { execution: Pick<Execution, 'id' | 'status' | 'cancelRequested'> }) {
  const [said, say] = useState<string>()
  const { change, problem, isBusy } = useChange()
  // What was said stays while the execution begins again.
  if (execution.status !== 'failed' && execution.status !== 'cancelled')
    return said ? <p role="status">{said}</p> : null
  if (execution.cancelRequested)
    return (
      <p class="quiet">
        What was cancelled cannot be retried: a replay of its event starts from the beginning.
      </p>
    )
  if (!may('operator')) return <p class="quiet">Operators can retry this execution.</p>
  const retry = async (version: 'same' | 'latest') => {
    if (!isBusy && (await change(() => api().executions.retry(execution.id, { version }))))
      say('It continues from the action that failed.')
  }
  return (
    <div class="row">
      <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void retry('same')}>
        Retry from here
      </button>
      <button type="button" aria-disabled={isBusy} onClick={() => void retry('latest')}>
        Retry with the rule as it is now
      </button>
      <span role="status">{problem ?? said}</span>
    </div>
  )
}

type Filter = NonNullable<ExecutionsToRetry['filter']>

/** Continues those that failed, each from the action that failed. */
export function RetryMany(props: {
  filter: Filter
  label?: string
  /** The rule whose executions they are. */
  of?: string
  clear?: () => void
}) {
  const isChosen = props.filter.ids !== undefined
  const { error: _, ...ofRule } = props.filter
  // An execution that fails again may do so with another error: those of the rule are counted, in a time that ends now.
  const whole = { ...ofRule, to: ofRule.to ?? new Date().toISOString() }
  const before = useRef<number>()
  return (
    <Bulk
      label="Retry all of these…"
      {...props}
      verb="Retry"
      one={isChosen ? 'execution' : 'failed execution'}
      done="will continue"
      note="Each continues from the action that failed, with the version of the rule that ran. Receivers can recognise repeated calls by their idempotency keys. What has not failed is left as it is."
      count={(filter) => api().executions.retryMany({ filter, dryRun: true })}
      act={async (filter) => {
        before.current ??= isChosen ? 0 : await countFailed(whole)
        const answer = await api().executions.retryMany({ filter, dryRun: false })
        return 'retried' in answer ? answer.retried : 0
      }}
      watch={isChosen ? undefined : (retried) => watch(whole, retried, before.current)}
    />
  )
}

/** @returns undefined: too many to count */
async function countFailed(filter: Filter): Promise<number | undefined> {
  const answer = await api().executions.retryMany({ filter, dryRun: true })
  return answer.atLeast ? undefined : answer.matched + ('refused' in answer ? answer.refused : 0)
}

const watchMs = 2_000
const watches = 15

/**
 * What became of them half a minute later, or as soon as none is in progress: all may have failed again.
 *
 * @param before how many had failed in the same time. @returns undefined: not known
 */
async function watch(
  filter: Filter,
  retried: number,
  before: number | undefined,
): Promise<string | undefined> {
  const { ruleId, from, to } = filter
  const own = {
    ...(ruleId !== undefined && { ruleId }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }
  try {
    for (let looks = 1; ; looks++) {
      await new Promise((resolve) => setTimeout(resolve, watchMs))
      const { executions } = await api().executions.list({ ...own, status: 'running,retrying', limit: 1 })
      if (executions.length > 0 && looks < watches) continue
      const now = await countFailed(filter)
      if (before === undefined || now === undefined) return undefined
      const failed = Math.min(retried, Math.max(0, now - (before - retried)))
      if (executions.length > 0)
        return `${formatCount(retried)} continue. So far ${formatCount(failed)} failed again.`
      return `${formatCount(retried)} continued: ${failed === 0 ? 'none' : formatCount(failed)} failed again.`
    }
  } catch {
    return undefined
  }
}
