import type { Execution, ExecutionsToCancel } from '@automation/client'
import { formatCount } from '../logic/count-words.js'
import { api, may } from '../state/session.js'
import { toast } from '../state/toasts.js'
import { Bulk } from './bulk.js'
import { Confirm } from './confirm.js'

const unfinished: ReadonlySet<string> = new Set(['running', 'waiting', 'retrying'])

/** Ends an execution that has not ended by itself. */
export function Cancel({ execution: { id, status } }: { execution: Pick<Execution, 'id' | 'status'> }) {
  if (!unfinished.has(status) || !may('operator')) return null
  return (
    <div class="row">
      <Confirm
        label="Cancel it…"
        title="Cancel this execution"
        work={async () => {
          const { status: now } = await api().executions.cancel(id)
          toast(
            now === 'running' ? 'An attempt is in progress: it ends first' : 'The execution was cancelled',
          )
        }}
        reads="execution"
      >
        <p>
          What it has done stays. Nothing begins after it, and it cannot be retried: a replay of its event
          starts from the beginning.
        </p>
      </Confirm>
    </div>
  )
}

/** Ends those that wait. */
export function CancelMany({ filter }: { filter: ExecutionsToCancel['filter'] }) {
  return (
    <Bulk
      label="Cancel those that wait…"
      title="Cancel waiting executions"
      verb="Cancel"
      isDanger
      count={() => api().executions.cancelMany({ filter, dryRun: true })}
      act={async () => {
        const { cancelled = 0 } = (await api().executions.cancelMany({ filter, dryRun: false })) as {
          cancelled?: number
        }
        return `${formatCount(cancelled)} cancelled.`
      }}
    >
      {(isOne) =>
        `${isOne ? 'execution matches' : 'executions match'} the filter and ${isOne ? 'waits' : 'wait'}, for later actions or for another attempt. What they have done stays, and they cannot be retried; at most 1,000 at a time.`
      }
    </Bulk>
  )
}
