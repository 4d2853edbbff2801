import type { Execution, ExecutionsToRetry } from '@automation/client'
import { useState } from 'preact/hooks'
import { api, may } from '../state/session.js'
import { describeError, readAgain } from '../state/use-query.js'
import { Dialog } from './dialog.js'
import { Loading } from './states.js'

/** Two named ways: from here with the version that ran, or with the rule as it is now. */
export function Retry({ execution }: { execution: Execution }) {
  const [said, say] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  // What was said stays while the execution begins again.
  if (execution.status !== 'failed' && execution.status !== 'cancelled')
    return said ? <p role="status">{said}</p> : null
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

/** Counts first, then does, then says what came of it. */
export function RetryMany({
  filter,
  label = 'Retry all of these…',
}: {
  filter: NonNullable<ExecutionsToRetry['filter']>
  label?: string
}) {
  const [count, setCount] = useState<string>()
  const [isOpen, open] = useState(false)
  const [said, say] = useState<string>()
  if (!may('operator')) return null
  const ask = async (dryRun: boolean) => {
    say(undefined)
    try {
      const found = (await api().executions.retryMany({ filter, dryRun })) as {
        matched: number
        atLeast?: boolean
        retried?: number
      }
      if (dryRun) setCount(`${found.atLeast ? 'at least ' : ''}${found.matched}`)
      else {
        say(`${found.retried ?? found.matched} will continue.`)
        await readAgain()
      }
    } catch (error) {
      say(describeError(error).title)
    }
  }
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setCount(undefined)
          open(true)
          void ask(true)
        }}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog title="Retry failed executions" close={() => open(false)}>
          {count === undefined && said === undefined && <Loading what="their number" />}
          {count !== undefined && (
            <p>
              <strong>{count}</strong> failed {count === '1' ? 'execution matches' : 'executions match'} the
              filter. Each continues from the action that failed, with the version that ran, under the same
              idempotency keys; at most 1,000 at a time.
            </p>
          )}
          <p role="status">{said}</p>
          <div class="row end">
            <button type="button" onClick={() => open(false)}>
              Close
            </button>
            {count !== undefined && said === undefined && (
              <button type="button" class="primary" onClick={() => void ask(false)}>
                Retry {count}
              </button>
            )}
          </div>
        </Dialog>
      )}
    </>
  )
}
