import type { Ledger } from '@automation/client'
import { Fragment } from 'preact'
import { countOf, formatCount } from '../logic/count-words.js'
import { describeInconsistency } from '../logic/describe-inconsistency.js'
import { readSpan, spanLabels } from '../logic/filters.js'
import { type Part, partsOfExecutions } from '../logic/parts-of-executions.js'
import { writeRange } from '../logic/time-range.js'
import { Icon } from '../parts/icon.js'
import { Screen } from '../parts/screen.js'
import { Select } from '../parts/select.js'
import { NoPermission, ReadState } from '../parts/states.js'
import { When } from '../parts/when.js'
import { linkToEvent, linkToExecution } from '../state/links.js'
import { api, may } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'

/** Does everything that came in add up? */
export function Reconciliation() {
  const { query, set } = useFilters()
  const span = readSpan(query.last)
  const found = useQuery<Ledger>({
    key: may('admin') ? ['reconciliation', span] : undefined,
    // From the same moment as the overview, so that both screens count the same.
    read: () => api().developer.ledger({ from: writeRange({ last: span }).from }),
    pollMs: false,
  })
  return (
    <Screen
      title="Reconciliation"
      note="Every accepted webhook and event must be finished, waiting or in progress. This page checks that the numbers add up."
      actions={
        may('admin') && (
          <button type="button" disabled={found.isFetching} onClick={() => void found.refetch()}>
            {found.isFetching ? 'Counting…' : 'Count again'}
          </button>
        )
      }
    >
      {!may('admin') && <NoPermission>The reconciliation is for admins of the workspace.</NoPermission>}
      {may('admin') && (
        <search class="filters">
          <Select
            label="Time"
            value={span}
            options={spanLabels}
            set={(last) => set({ last: last === '24h' ? '' : last })}
          />
        </search>
      )}
      {may('admin') && <ReadState {...found} what="the reconciliation" />}
      {found.data && <Account ledger={found.data} />}
    </Screen>
  )
}

function Account({ ledger }: { ledger: Ledger }) {
  const { imbalance, isComplete, faults, from } = ledger
  return (
    <>
      <p class={`verdict ${imbalance === 0 ? 'good' : 'bad'}`} role="status">
        <Icon name={imbalance === 0 ? 'check' : 'warning'} />
        {imbalance === 0 ? 'Balanced' : `${imbalance} ${imbalance === 1 ? 'row does' : 'rows do'} not add up`}
      </p>
      {!isComplete && (
        <p class="notice">
          Too many rows for one count: showing those since <When at={from} />.
        </p>
      )}
      <Flow ledger={ledger} />
      {faults.length > 0 && (
        <section aria-labelledby="faults">
          <h2 id="faults">Inconsistencies</h2>
          <ul class="cards">
            {faults.map((fault) => (
              <Fault key={fault.kind} fault={fault} />
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

/** What it means, what repairs it, and where its rows are. */
function Fault({ fault: { kind, count, ids } }: { fault: Ledger['faults'][number] }) {
  const { text, repair, of } = describeInconsistency(kind)
  return (
    <li>
      <div>
        <strong>{text}</strong>: {countOf(count, 'time')}
        <span class="sub">
          {repair} {ids.length < count && 'The first: '}
          {ids.map((id, index) => (
            <Fragment key={id}>
              {index > 0 && ', '}
              {of === 'webhook' ? id : <a href={hrefs[of](id)}>{id}</a>}
            </Fragment>
          ))}
        </span>
      </div>
    </li>
  )
}

const hrefs = {
  event: linkToEvent,
  execution: linkToExecution,
  rule: (id: string) => linkTo(`rules/${id}`),
  task: (id: string) => linkTo('tasks', { id }),
}

/** What came in on the left, what became of it on the right: each step is the sum of its parts. */
function Flow({ ledger: { receipts, events, executions, effects } }: { ledger: Ledger }) {
  const { calls } = effects
  return (
    <ol class="flow" aria-label="From webhooks to effects">
      <Step
        title="Webhooks"
        total={receipts.received}
        parts={[
          [receipts.accepted, 'accepted'],
          [receipts.duplicate, receipts.duplicate === 1 ? 'duplicate' : 'duplicates'],
          [receipts.rejected, 'refused', 'bad'],
        ]}
      />
      <Step
        title="Events"
        total={events.accepted}
        parts={[
          [events.fromReceipts, 'from webhooks'],
          [events.fromOutside, 'by the API'],
          [events.emitted, 'emitted by rules'],
          [events.replayed, 'replayed'],
          [events.service, 'deliveries to subscriptions'],
        ]}
        below={[
          [events.done, 'done'],
          [events.waiting, 'waiting'],
          [events.overdue, 'overdue', 'bad'],
          [events.quarantined, 'quarantined', 'bad'],
        ]}
      />
      <Step
        title="Executions"
        total={executions.begun}
        parts={partsOfExecutions(executions)}
        below={[
          [executions.waiting, 'waiting, deliveries included'],
          [executions.leased, 'in progress, deliveries included'],
          [executions.overdue, 'overdue', 'bad'],
        ]}
      />
      <Step
        title="Effects"
        total={
          effects.tasks + effects.emittedEvents + calls.succeeded + calls.failed + calls.unknown + calls.open
        }
        parts={[
          [effects.tasks, 'tasks'],
          [effects.emittedEvents, 'emitted events'],
          [calls.succeeded, 'calls made'],
          [calls.failed, 'calls failed', 'bad'],
          [calls.unknown, 'calls unknown', 'bad'],
          [calls.open, 'calls in progress'],
        ]}
      />
    </ol>
  )
}

function Step({
  title,
  total,
  parts,
  below = [],
}: {
  title: string
  total: number
  parts: Part[]
  below?: Part[]
}) {
  return (
    <li>
      <h2>{title}</h2>
      <p class="total">{formatCount(total)}</p>
      <Parts parts={parts} />
      {below.length > 0 && <Parts parts={below} />}
    </li>
  )
}

function Parts({ parts }: { parts: Part[] }) {
  return (
    <ul>
      {parts.map(([count, word, tone = '']) => (
        <li key={word} class={count === 0 ? 'quiet' : tone}>
          <span class="number">{formatCount(count)}</span> {word}
        </li>
      ))}
    </ul>
  )
}
