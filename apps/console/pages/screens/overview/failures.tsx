import type { Overview } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { countOf, formatCount } from '../../logic/count-words.js'
import { nameActor } from '../../logic/name-actor.js'
import { sayError } from '../../logic/say-error.js'
import { type ShownTime, writeRange } from '../../logic/time-range.js'
import { RetryMany } from '../../parts/retry.js'
import { When } from '../../parts/when.js'
import { api, may } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { linkTo } from '../../state/use-filters.js'
import { describeError, readAgain } from '../../state/use-query.js'

type Group = Overview['failures'][number]

/** What failed, the same failures as one: each can be looked at, retried and acknowledged. */
export function Failures({
  overview: {
    failures,
    totals: { failed },
  },
  time,
}: {
  overview: Overview
  time: ShownTime
}) {
  if (failed === 0) return null
  const grouped = failures.reduce((sum, { count }) => sum + count, 0)
  const open = failures.filter(({ acknowledgement }) => acknowledgement === null)
  const acknowledged = failures.filter(({ acknowledgement }) => acknowledgement !== null)
  return (
    <section aria-labelledby="failures">
      <h2 id="failures">Failures</h2>
      {open.length > 0 && <Groups groups={open} time={time} />}
      {acknowledged.length > 0 && (
        <details class="acknowledged">
          <summary>{acknowledged.length} acknowledged</summary>
          <Groups groups={acknowledged} time={time} />
        </details>
      )}
      {grouped < failed && (
        <p class="quiet">
          {countOf(failed - grouped, 'more execution')} failed.{' '}
          <a href={linkTo('executions', { ...time, status: 'failed' })}>All failed executions</a>
        </p>
      )}
    </section>
  )
}

function Groups({ groups, time }: { groups: Group[]; time: ShownTime }) {
  return (
    <ul class="cards">
      {groups.map((group) => (
        <li key={`${group.ruleId} ${group.error}`}>
          <Described group={group} />
          <div class="row">
            <RetryMany
              filter={{
                ...writeRange(time),
                ruleId: group.ruleId,
                ...(group.error && { error: group.error }),
                status: ['failed'],
              }}
              label={group.count === 1 ? 'Retry…' : 'Retry all…'}
              of={group.ruleName ?? 'a deleted rule'}
            />
            {may('operator') && <Acknowledge group={group} />}
            <a
              class="button"
              href={linkTo('executions', {
                ...time,
                rule: group.ruleId,
                error: group.error,
                status: 'failed',
              })}
            >
              Show
            </a>
          </div>
        </li>
      ))}
    </ul>
  )
}

function Described({
  group: { ruleId, ruleName, error, count, firstAt, lastAt, acknowledgement },
}: {
  group: Group
}) {
  const times: ComponentChildren =
    count === 1 ? (
      <>
        event of <When at={lastAt} />
      </>
    ) : (
      <>
        events from <When at={firstAt} /> to <When at={lastAt} />
      </>
    )
  return (
    <div>
      <span class="group-count">{formatCount(count)} ×</span>{' '}
      {ruleName === null ? <strong>Deleted rule</strong> : <a href={linkTo(`rules/${ruleId}`)}>{ruleName}</a>}
      <span class="error-line">{sayError(error) || 'No error was recorded'}</span>
      <span class="sub">
        {times}
        {acknowledgement && (
          <>
            , acknowledged by {nameActor(acknowledgement.by)} <When at={acknowledgement.at} />
          </>
        )}
      </span>
    </div>
  )
}

/** Takes a group off the list, until it fails again, or puts it back. */
function Acknowledge({ group: { newestId, acknowledgement } }: { group: Group }) {
  const [isBusy, setBusy] = useState(false)
  // In this order no card of the rule comes and goes below.
  const attempt = async (reads: [string, string], change: () => Promise<unknown>) => {
    setBusy(true)
    try {
      await change()
    } catch (error) {
      toast(`It was not changed: ${describeError(error).title}`)
    }
    for (const read of reads) await readAgain(read)
    setBusy(false)
  }
  const takeBack = () => attempt(['overview', 'attention'], () => api().executions.unacknowledge(newestId))
  const acknowledge = () =>
    attempt(['attention', 'overview'], async () => {
      await api().executions.acknowledge(newestId)
      toast('Acknowledged, until it fails again', { undo: takeBack })
    })
  return (
    <button
      type="button"
      aria-disabled={isBusy}
      onClick={({ detail: clicks }) => {
        // The next group takes the place of one that is gone: the second click of a double click is not meant for it.
        if (!isBusy && clicks < 2) void (acknowledgement ? takeBack() : acknowledge())
      }}
    >
      {acknowledgement ? 'Take back' : 'Acknowledge'}
    </button>
  )
}
