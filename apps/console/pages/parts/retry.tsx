import type { Execution, ExecutionsToRetry } from '@automation/client'
import { useState } from 'preact/hooks'
import { api, may } from '../state/session.js'
import { describeError, readAgain } from '../state/use-query.js'
import { Bulk } from './bulk.js'

/** Two named ways: from here with the version that ran, or with the rule as it is now. */
export function Retry({ execution }: { execution: Execution }) {
  const [said, say] = useState<string>()
  const [isBusy, setBusy] = useState(false)
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
    if (isBusy) return
    setBusy(true)
    try {
      await api().executions.retry(execution.id, { version })
      say('It continues from the action that failed.')
      await readAgain()
    } catch (error) {
      say(describeError(error).title)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="row">
      <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void retry('same')}>
        Retry from here
      </button>
      <button type="button" aria-disabled={isBusy} onClick={() => void retry('latest')}>
        Retry with the rule as it is now
      </button>
      <span role="status">{said}</span>
    </div>
  )
}

/** Continues those that failed, each from the action that failed. */
export function RetryMany({
  filter,
  label = 'Retry all of these…',
}: {
  filter: NonNullable<ExecutionsToRetry['filter']>
  label?: string
}) {
  return (
    <Bulk
      label={label}
      title="Retry failed executions"
      verb="Retry"
      count={() => api().executions.retryMany({ filter, dryRun: true })}
      act={async () => {
        const { retried, matched } = (await api().executions.retryMany({ filter, dryRun: false })) as {
          matched: number
          retried?: number
        }
        return `${retried ?? matched} will continue.`
      }}
    >
      {(isOne) =>
        `failed ${isOne ? 'execution matches' : 'executions match'} the filter. Each continues from the action that failed, with the version that ran, under the same idempotency keys; at most 1,000 at a time.`
      }
    </Bulk>
  )
}
