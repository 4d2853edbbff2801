import type { Event, EventWhy, RuleResult, RuleWhy } from '@automation/client'
import { describeChange } from '@automation/engine'
import { countOf } from '../logic/count-words.js'
import { describeActual, describeClause } from '../logic/describe-clause.js'
import { curlOfEvent } from '../logic/history/write-curl.js'
import { findStop, markConditions } from '../logic/marks.js'
import { showControls } from '../logic/show.js'
import { DetailHead } from '../parts/detail-head.js'
import { EventState } from '../parts/event-state.js'
import { ExplainTree } from '../parts/explain-tree.js'
import { CopyButton, JsonView } from '../parts/json-view.js'
import { Mark } from '../parts/mark.js'
import { Replay } from '../parts/replay.js'
import { ReadState, Unread } from '../parts/states.js'
import { Suppressed } from '../parts/suppressed.js'
import { When } from '../parts/when.js'
import { linkToEvent, linkToExecution } from '../state/links.js'
import { api, apiUrl, may, workspaceId } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'

/** One event: which rules looked at it, and what stopped each of the others. */
export function EventDetail({ id, close }: { id: string; close: () => void }) {
  const event = useQuery<Event>({ key: ['event', id], read: () => api().events.get(id) })
  if (!event.data)
    return (
      <>
        <DetailHead title="Event" what="the event" close={close} />
        <Unread {...event} what="the event" />
      </>
    )
  const { type, acceptedAt, data, status, causedBy, replayOf, chosenRules, results, quarantineReason } =
    event.data
  return (
    <>
      <DetailHead title={type} what="the event" close={close} />
      <p>
        <EventState {...event.data} /> · accepted <When at={acceptedAt} />
        {causedBy && (
          <>
            {' '}
            · <a href={linkToExecution(causedBy)}>emitted by an execution</a>
          </>
        )}
        {quarantineReason && <> · {quarantineReason}</>}
        {replayOf && (
          <>
            {' '}
            · <a href={linkToEvent(replayOf)}>a replay</a>
            {chosenRules && ` for ${countOf(chosenRules.length, 'rule')}`}
          </>
        )}
      </p>
      <div class="row">
        {may('replay') && <Replay event={event.data} />}
        {may('create') && (
          <a class="button" href={linkTo('rules/new', { trigger: type, event: id })}>
            Create a rule for this
          </a>
        )}
        {!inFrame && (
          <>
            <CopyButton
              text={curlOfEvent(apiUrl.value, workspaceId.value ?? '', { type, data })}
              label="Copy as curl"
              look=""
            />
            <CopyButton text={location.href} label="Copy the link" look="" />
          </>
        )}
      </div>
      <Why {...{ id, type, results }} isDone={status === 'done' || status === 'quarantined'} />
      <h3>Data</h3>
      <JsonView value={data} label="Data of the event" />
      <p class="quiet id">{id}</p>
    </>
  )
}

/** Evaluated again from what is stored: the versions of that moment, and the data. What became of those that ran is read from their executions. */
function Why({
  id,
  type,
  results,
  isDone,
}: {
  id: string
  type: string
  results: readonly RuleResult[]
  isDone: boolean
}) {
  const why = useQuery<EventWhy>({
    key: ['why', id, isDone],
    read: () => api().events.why(id, { limit: 50 }),
    pollMs: false,
  })
  const rules = why.data?.rules ?? []
  const count = (result: RuleWhy['verdict']) => rules.filter(({ verdict }) => verdict === result).length
  const suppressed = count('suppressed')
  const leftOut = count('left_out')
  const failed = results.filter(({ status }) => status === 'failed').length
  return (
    <>
      <h3>What the rules did</h3>
      <ReadState {...why} what="the results" />
      {why.data && rules.length === 0 && (
        <p>
          No rule was evaluated: no active rule has the trigger <code>{type}</code>.{' '}
          {may('create') && <a href={linkTo('rules/new', { trigger: type })}>Write one</a>}
        </p>
      )}
      {rules.length > 0 && (
        <>
          <p>
            {count('matched')} of {rules.length}
            {why.data?.nextCursor ? '+' : ''} ran
            {failed > 0 && (
              <>
                , <span class="bad">{failed} failed</span>
              </>
            )}
            {suppressed > 0 && `, ${suppressed} suppressed`}
            {leftOut > 0 && `, ${leftOut} left out`}.
          </p>
          <ul class="verdicts">
            {rules.map((rule) => (
              <li key={rule.ruleId}>
                <OneRule
                  {...{ rule, rules }}
                  result={results.find(({ executionId }) => executionId === rule.executionId)}
                  eventId={id}
                />
              </li>
            ))}
          </ul>
          {why.data?.nextCursor && (
            <p class="sub">More rules looked at it. The nearest {rules.length} are shown.</p>
          )}
        </>
      )}
    </>
  )
}

const words: Partial<Record<RuleWhy['verdict'], string>> = {
  outranked: 'outranked',
  left_out: 'left out of this replay',
  suppressed: 'suppressed',
  inactive: 'was off',
  created_later: 'did not exist yet',
  other_type: 'has another trigger',
  deleted: 'was deleted',
  quarantined: 'the event is quarantined',
  pending: 'not evaluated yet',
  not_considered: 'was not evaluated',
  not_known: 'not known',
  not_judged: 'failed before its conditions',
}

/** What became of a rule: that of its execution, or why there is none. */
function Became({ verdict, result }: { verdict: RuleWhy['verdict']; result: RuleResult | undefined }) {
  if (verdict !== 'matched')
    return <Mark of={verdict === 'not_matched' ? 'stopped' : 'skipped'} word={words[verdict] ?? 'stopped'} />
  const status = result?.status ?? 'succeeded'
  return <Mark of={status} word={status === 'succeeded' ? 'ran' : undefined} />
}

function OneRule({
  rule,
  rules,
  result,
  eventId,
}: {
  rule: RuleWhy
  rules: readonly RuleWhy[]
  /** Of its execution, if there is one. */
  result: RuleResult | undefined
  eventId: string
}) {
  const { ruleId, name, version, verdict, executionId, trace, change, outranked, suppressed } = rule
  const stop = verdict === 'not_matched' && trace ? findStop(markConditions(trace.conditions)) : undefined
  return (
    <>
      <Became {...{ verdict, result }} />{' '}
      <a href={linkTo(`rules/${ruleId}`, { event: eventId })}>{name ?? 'a deleted rule'}</a>
      {version !== null && <span class="quiet"> v{version}</span>}
      {executionId && (
        <>
          {' '}
          · <a href={linkToExecution(executionId)}>its execution</a>
        </>
      )}
      {result?.error && <span class={`sub ${result.status === 'failed' ? 'bad' : ''}`}>{result.error}</span>}
      {suppressed && <Suppressed suppression={suppressed} />}
      {outranked && (
        <span class="sub">
          Outranked by{' '}
          <a href={linkTo(`rules/${outranked.by}`, { event: eventId })}>
            {rules.find((one) => one.ruleId === outranked.by)?.name ?? 'another rule'}
          </a>
          , which came first in their group.
        </span>
      )}
      {stop && <span class="sub">{describeStop(stop.trace)}</span>}
      {change && change.length > 0 && (
        <span class="sub">
          It would have matched if {showControls(describeChange(change, (trace?.conditions ?? []) as never))}.
        </span>
      )}
      {trace && trace.conditions.length > 0 && (
        <details>
          <summary>Each condition</summary>
          <ExplainTree conditions={trace.conditions} />
        </details>
      )}
    </>
  )
}

function describeStop(trace: NonNullable<ReturnType<typeof findStop>>['trace']): string {
  if ('group' in trace && trace.group !== undefined) return `not ${trace.group}`
  const { warning } = trace as { warning?: string }
  return `${describeClause(trace)}, ${warning ?? describeActual(trace)}`
}
