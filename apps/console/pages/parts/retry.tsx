import type { Execution, ExecutionsRetried, ExecutionsToRetry } from '@automation/client'
import { useState } from 'preact/hooks'
import { formatCount } from '../logic/count-words.js'
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

type Filter = NonNullable<ExecutionsToRetry['filter']>

/** Continues those that failed, each from the action that failed. */
export function RetryMany({
  filter,
  label = 'Retry all of these…',
  of,
  then = () => {},
}: {
  filter: Filter
  label?: string
  /** The rule whose executions they are. */
  of?: string
  /** Gets what came of it: a row, and its dialog, may be gone by then. */
  then?: (text: string) => void
}) {
  return (
    <Bulk
      label={label}
      title="Retry failed executions"
      verb="Retry"
      count={() => api().executions.retryMany({ filter, dryRun: true })}
      act={async (tell) => {
        const { text, retried, left } = await retryAll(filter, tell)
        then(text)
        if (retried === 0) return text
        tell(`${text} What comes of it is shown here…`)
        await readAgain()
        const outcome = await watch(filter, retried, left)
        if (outcome !== undefined) then(outcome)
        return outcome ?? text
      }}
    >
      {(isOne) =>
        `failed ${isOne ? 'execution' : 'executions'} ${of === undefined ? (isOne ? 'matches the filter' : 'match the filter') : `of ${of}`}. ${isOne ? 'It' : 'Each'} continues from the action that failed, with the version of the rule that ran. Receivers can recognise repeated calls by their idempotency keys.`
      }
    </Bulk>
  )
}

/** In steps of 1,000, as the API takes them. Those that fail once more in the meantime are not begun a third time. */
async function retryAll(
  filter: Filter,
  tell: (text: string) => void,
): Promise<{ text: string; retried: number; left: number }> {
  let done = 0
  let all = 1
  while (done < all) {
    try {
      const { matched, retried = 0 } = (await api().executions.retryMany({
        filter,
        dryRun: false,
      })) as ExecutionsRetried
      if (done === 0) all = matched
      done += retried
      if (retried === 0) break
      tell(`${formatCount(done)} of ${formatCount(all)} continue…`)
    } catch (error) {
      if (done === 0) throw error
      const why = describeError(error).title.toLowerCase()
      return {
        text: `${formatCount(done)} will continue. For the others: ${why}.`,
        retried: done,
        left: all - done,
      }
    }
  }
  return { text: `${formatCount(done)} will continue.`, retried: done, left: Math.max(0, all - done) }
}

const watchMs = 2_000
const watches = 15

/**
 * What became of them half a minute later, or as soon as none is in progress: all may have failed again.
 *
 * @param left those that had failed and were not begun again. @returns undefined: not known
 */
async function watch(filter: Filter, retried: number, left: number): Promise<string | undefined> {
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
      const { matched } = await api().executions.retryMany({ filter, dryRun: true })
      const failed = Math.min(retried, Math.max(0, matched - left))
      if (executions.length > 0)
        return `${formatCount(retried)} continue. So far ${formatCount(failed)} failed again.`
      return `${formatCount(retried)} continued: ${failed === 0 ? 'none' : formatCount(failed)} failed again.`
    }
  } catch {
    return undefined
  }
}
