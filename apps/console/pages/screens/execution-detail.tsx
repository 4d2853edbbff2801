import type { Execution } from '@automation/client'
import { countOf } from '../logic/count-words.js'
import { formatDuration, timeOfId } from '../logic/format-time.js'
import { listPieces, sumTime } from '../logic/history/list-pieces.js'
import { waitWords } from '../logic/history/say-duration.js'
import { Attempts } from '../parts/attempts.js'
import { Cancel } from '../parts/cancel.js'
import { DetailHead } from '../parts/detail-head.js'
import { ExplainTree } from '../parts/explain-tree.js'
import { CopyButton } from '../parts/json-view.js'
import { Mark } from '../parts/mark.js'
import { Retry } from '../parts/retry.js'
import { Unread } from '../parts/states.js'
import { Suppressed } from '../parts/suppressed.js'
import { now, When } from '../parts/when.js'
import { linkToEvent } from '../state/links.js'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'

/** One execution: what it did, attempt by attempt, and why it ran. */
export function ExecutionDetail({
  id,
  nameOf,
  close,
}: {
  id: string
  nameOf: (ruleId: string) => string
  close: () => void
}) {
  const found = useQuery<Execution>({
    key: ['execution', id],
    read: () => api().executions.get(id, { explain: true }) as PromiseLike<Execution>,
  })
  if (!found.data)
    return (
      <>
        <DetailHead title="Execution" what="the execution" close={close} />
        <Unread {...found} what="the execution" />
      </>
    )
  const { ruleId, ruleVersion, status, error, eventId, startedAt, suppressed, trace, waitsFor, batch } =
    found.data
  const latest = findLatestRetry(found.data)
  return (
    <>
      <DetailHead title={nameOf(ruleId)} what="the execution" close={close} />
      <p>
        <Mark of={status} word={waitsFor === null ? undefined : waitWords[waitsFor]} /> · began{' '}
        <When at={startedAt} />
        {latest && (
          <>
            , latest attempt <When at={latest} />
          </>
        )}{' '}
        · <a href={linkToEvent(eventId)}>its event</a>
        {ruleVersion !== null && (
          <>
            {' '}
            ·{' '}
            <a href={linkTo(`rules/${ruleId}`, { tab: 'versions', version: String(ruleVersion) })}>
              the rule as it was (v{ruleVersion})
            </a>
          </>
        )}
      </p>
      {suppressed && (
        <p class="notice">
          <Suppressed suppression={suppressed} />
        </p>
      )}
      {batch && <Collected batch={batch} />}
      {error && <p class={`notice ${status === 'cancelled' ? '' : 'bad'}`}>{error}</p>}
      <Retry execution={found.data} />
      <Cancel execution={found.data} />
      {!suppressed && (
        <>
          <div class="row spread">
            <h3>What it did</h3>
            <Took execution={found.data} />
          </div>
          <Attempts execution={found.data} />
        </>
      )}
      <h3>{suppressed ? 'Why it matched' : 'Why it ran'}</h3>
      {trace ? (
        <ExplainTree conditions={trace.conditions} />
      ) : (
        <p class="quiet">Not available: the rule was deleted.</p>
      )}
      {!inFrame && (
        <div class="row">
          <CopyButton text={location.href} label="Copy the link" />
        </div>
      )}
      <p class="quiet id">{id}</p>
    </>
  )
}

/** When the last attempt of an action began that has more than one: hours may lie between it and the beginning. */
function findLatestRetry({ results }: Execution): string | undefined {
  return results
    .flatMap(({ attempts = [] }) => attempts.slice(1))
    .map(({ startedAt }) => startedAt)
    .sort()
    .at(-1)
}

/** The events that it acts for together. */
function Collected({ batch: { endsAt, eventIds } }: { batch: NonNullable<Execution['batch']> }) {
  const isOpen = Date.parse(endsAt) > now.value.getTime()
  return (
    <details class="notice">
      <summary>
        {isOpen ? 'It collects events until ' : 'It has collected events until '}
        <When at={endsAt} />: {countOf(eventIds.length, 'event')}
      </summary>
      <ol class="numbered">
        {eventIds.map((eventId) => (
          <li key={eventId}>
            <a href={linkToEvent(eventId)}>{eventId}</a>
          </li>
        ))}
      </ol>
    </details>
  )
}

/** Waiting for days is no work: both are said. */
function Took({ execution }: { execution: Execution }) {
  const nowMs = now.value.getTime()
  const { worked, waited } = sumTime(listPieces(execution, timeOfId(execution.id), nowMs), nowMs)
  const parts = [
    ...(worked > 0 ? [`worked for ${formatDuration(worked)}`] : []),
    ...(waited > 0 ? [`waited for ${formatDuration(waited)}`] : []),
  ]
  return <span class="quiet">{parts.join(', ')}</span>
}
