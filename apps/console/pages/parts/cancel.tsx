import type { Execution, ExecutionsToCancel } from '@automation/client'
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
        label="Cancel this execution"
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
export function CancelMany(props: {
  filter: ExecutionsToCancel['filter']
  label: string
  clear?: () => void
}) {
  return (
    <Bulk
      {...props}
      verb="Cancel"
      one="execution"
      done="cancelled"
      isDanger
      note="Each that waits, for later actions or for another attempt, ends. What it has done stays, and it cannot be retried. The others are left as they are."
      count={(filter) => api().executions.cancelMany({ filter, dryRun: true })}
      act={async (filter) => {
        const answer = await api().executions.cancelMany({ filter, dryRun: false })
        return 'cancelled' in answer ? answer.cancelled : 0
      }}
    />
  )
}
