import { api } from '../state/session.js'
import { ActOnPicked } from './act-on-picked.js'

interface Props {
  ids: readonly string[]
  clear: () => void
}

/** Continues the chosen executions that failed. */
export function RetryPicked({ ids, clear }: Props) {
  return (
    <ActOnPicked
      {...{ ids, clear }}
      one="execution"
      verb="Retry"
      done="will continue"
      act={async (some) => {
        const answer = await api().executions.retryMany({ filter: { ids: some }, dryRun: false })
        return 'retried' in answer ? answer.retried : 0
      }}
    >
      <p>
        Each that failed continues from the action that failed, with the version that ran, under the same
        idempotency keys. The others are left as they are.
      </p>
    </ActOnPicked>
  )
}

/** Ends the chosen executions that wait. */
export function CancelPicked({ ids, clear }: Props) {
  return (
    <ActOnPicked
      {...{ ids, clear }}
      one="execution"
      verb="Cancel"
      done="cancelled"
      isDanger
      act={async (some) => {
        const answer = await api().executions.cancelMany({ filter: { ids: some }, dryRun: false })
        return 'cancelled' in answer ? answer.cancelled : 0
      }}
    >
      <p>
        Each that waits, for later actions or for another attempt, ends. What it has done stays, and it cannot
        be retried. The others are left as they are.
      </p>
    </ActOnPicked>
  )
}
