import type { Execution } from '@automation/client'
import { showControls } from '../logic/show.js'
import { linkToExecution } from '../state/links.js'
import { When } from './when.js'

type Suppression = NonNullable<Execution['suppressed']>

/** Why a rule that matched did nothing: the limit of its key, and the execution that reached it. */
export function Suppressed({ suppression }: { suppression: Suppression }) {
  const key = suppression.key === '' ? 'all events' : `“${showControls(suppression.key)}”`
  return (
    <span class="sub">
      {suppression.reason === 'at_most' && (
        <>
          Suppressed: the limit for {key} is reached until <When at={suppression.until} />, by{' '}
          <a href={linkToExecution(suppression.executionId)}>this execution</a>.
        </>
      )}
      {suppression.reason === 'at_least' &&
        `Suppressed: ${suppression.count} of ${suppression.events} events for ${key} so far.`}
      {suppression.reason === 'while_running' && (
        <>
          Suppressed: <a href={linkToExecution(suppression.executionId)}>another execution</a> for {key} had
          not ended.
        </>
      )}
      {suppression.reason === 'collected' && (
        <>
          Collected: <a href={linkToExecution(suppression.executionId)}>the execution of its batch</a> acts
          for it, with the other events of {key}.
        </>
      )}
      {suppression.reason === 'queue_full' && `Suppressed: too many executions for ${key} were waiting.`}
    </span>
  )
}
