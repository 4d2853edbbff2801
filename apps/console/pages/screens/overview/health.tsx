import type { Overview } from '@automation/client'
import { countOf } from '../../logic/count-words.js'
import { Icon } from '../../parts/icon.js'
import { When } from '../../parts/when.js'
import { boardUrl, may } from '../../state/session.js'

/** How the service itself is: what waits for a worker, and what it needs. A reader of this was served by Postgres. */
export function Health({
  overview: {
    totals: { unprocessed, oldestUnprocessedAt },
    redis,
  },
}: {
  overview: Overview
}) {
  return (
    <p class="health">
      <span>
        Queue:{' '}
        {unprocessed === 0 ? (
          'nothing waits'
        ) : (
          <>
            {countOf(unprocessed, 'event waits', 'events wait')}, the oldest since{' '}
            <When at={oldestUnprocessedAt} />
          </>
        )}
      </span>
      <span>
        <Icon name="check" /> PostgreSQL
      </span>
      <span class={redis === 'ok' ? '' : 'bad'}>
        <Icon name={redis === 'ok' ? 'check' : 'warning'} /> Redis
        {redis === 'away' && ' is unavailable: accepted events are safe, and wait'}
      </span>
      {boardUrl.value !== '' && may('admin') && (
        <a href={boardUrl.value}>
          Queue board <Icon name="external" />
        </a>
      )}
    </p>
  )
}
