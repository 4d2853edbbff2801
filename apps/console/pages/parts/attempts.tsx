import type { ActionResult, Execution } from '@automation/client'
import { describeAction } from '../logic/describe-action.js'
import { findDue } from '../logic/find-due.js'
import { formatDay, formatDuration, timeOfId } from '../logic/format-time.js'
import { layOutLanes } from '../logic/history/lay-out-time.js'
import { listPieces } from '../logic/history/list-pieces.js'
import { redact } from '../logic/history/redact.js'
import { nameActor } from '../logic/name-actor.js'
import { show, showControls } from '../logic/show.js'
import { linkToEvent } from '../state/links.js'
import { zone } from '../state/preferences.js'
import { linkTo } from '../state/use-filters.js'
import { InputAndOutput } from './input-and-output.js'
import { JsonView } from './json-view.js'
import { Mark } from './mark.js'
import { TimeLane, TimeScale } from './time-lane.js'
import { now, When } from './when.js'

/** A wait between two attempts that is longer than this is shown as a fold. */
const foldMs = 60_000

/** The actions of an execution, from top to bottom: what each was done with, every attempt of it, and what is still to come. */
export function Attempts({ execution }: { execution: Execution }) {
  const { id, results, startedAt, trace } = execution
  const { lanes, folds } = layOutLanes(listPieces(execution, timeOfId(id), now.value.getTime()))
  const actions = trace?.actions ?? []
  const toCome = actions
    .slice(results.length)
    .map(({ type }): ActionResult => ({ action: type, status: 'pending' }))
  if (results.length + toCome.length === 0) return <p class="quiet">No action has started.</p>
  return (
    <>
      <TimeScale {...{ lanes, folds }} />
      <ol class="timeline">
        {[...results, ...toCome].map((result, index) => (
          <li key={index} class={result.status}>
            <ActionHead
              result={result}
              index={index}
              name={actions[index]?.name}
              config={actions[index]?.config}
              due={findDue(actions[index]?.config, results.slice(0, index), startedAt)}
              executionId={id}
            />
            <TimeLane pieces={lanes[index] ?? []} folds={folds} />
            {result.reason && <p class="sub">{result.reason}</p>}
            {result.until && (
              <p class="sub">
                until <When at={result.until} />
              </p>
            )}
            <Awaited result={result} executionId={id} />
            {result.attempts && result.attempts.length > 0 ? (
              <Tries attempts={result.attempts} />
            ) : (
              result.error && <p class="sub bad">{result.error}</p>
            )}
            {result.emitted && (
              <p class="sub">
                {result.emitted.done} of {result.emitted.events} events done, {result.emitted.failed} failed
              </p>
            )}
            <InputAndOutput result={result} config={actions[index]?.config} />
            {result.warnings?.map((warning) => (
              <p key={warning} class="sub">
                {warning}
              </p>
            ))}
          </li>
        ))}
      </ol>
    </>
  )
}

/** The event that a WAIT waits for, or what has ended it. */
function Awaited({ result, executionId }: { result: ActionResult; executionId: string }) {
  const { waitsFor, ended, endedBy, waited, decision } = result
  if (decision !== undefined || waitsFor?.eventType === 'DECISION')
    return <Decided result={result} executionId={executionId} />
  if (waitsFor === undefined) return null
  const values = Object.entries(waitsFor.match).map(([path, value]) => `${path} is ${show(value)}`)
  return (
    <>
      <p class="sub">
        {ended === undefined ? 'It waits for' : 'It waited for'} <code>{waitsFor.eventType}</code> for which{' '}
        {showControls(values.join(' and '))}.{ended === 'time' && ' None came in time.'}
        {endedBy && (
          <>
            {' '}
            <a href={linkToEvent(endedBy.eventId)}>The event that ended it</a>, accepted{' '}
            <When at={endedBy.acceptedAt} />
          </>
        )}
      </p>
      {waited !== undefined && Object.keys(waited).length > 0 && (
        <details>
          <summary>What later actions read of it</summary>
          <JsonView value={waited} label="Data of the event that ended it" />
        </details>
      )}
    </>
  )
}

function Decided({ result: { decision }, executionId }: { result: ActionResult; executionId: string }) {
  if (decision === undefined)
    return (
      <p class="sub">
        It waits for <a href={linkTo('decisions', { id: executionId })}>a decision</a>.
      </p>
    )
  const { choice, by, reason } = decision
  return (
    <p class="sub">
      {by === undefined ? 'Nobody decided in time' : `${nameActor(by)} decided`}: <strong>{choice}</strong>
      {reason !== undefined && ` “${showControls(reason)}”`}
    </p>
  )
}

/** What the action was done with. A task leads to its page. */
function ActionHead({
  result: { action, status, captured = {} },
  index,
  name,
  config,
  due,
  executionId,
}: {
  result: ActionResult
  index: number
  name: string | undefined
  config: unknown
  /** Of a task. */
  due: string | undefined
  executionId: string
}) {
  const { heading: raw, facts: done } = describeAction(action, config)
  const read = Object.entries(captured).map(([key, value]) => [`captured.${key}`, show(value)] as const)
  const facts = [...done, ...read]
  const heading = showControls(raw)
  return (
    <>
      <div class="row spread">
        <strong>
          {index + 1}.{' '}
          {action === 'CREATE_TASK' && status === 'success' ? (
            <a href={linkTo('tasks', { execution: executionId })}>
              {heading}
              {due && `, due ${formatDay(due, zone.value, now.value)}`}
            </a>
          ) : (
            heading
          )}
        </strong>
        <Mark of={status} />
      </div>
      <code class="sub">{name === undefined ? action : `${action}, ${name}`}</code>
      {facts.length > 0 && (
        <dl class="facts">
          {facts.map(([label, value]) => [
            <dt key={label}>{label}</dt>,
            <dd key={`${label} value`}>{showControls(value)}</dd>,
          ])}
        </dl>
      )}
    </>
  )
}

function Tries({ attempts }: { attempts: NonNullable<ActionResult['attempts']> }) {
  return (
    <ol class="tries">
      {attempts.map(({ startedAt, finishedAt, error, output }, index) => {
        const before = attempts[index - 1]
        const pauseMs = before ? Date.parse(startedAt) - Date.parse(before.finishedAt ?? before.startedAt) : 0
        const tookMs = finishedAt ? Date.parse(finishedAt) - Date.parse(startedAt) : undefined
        return (
          <li key={startedAt}>
            {pauseMs > foldMs && <p class="fold">{formatDuration(pauseMs)} later</p>}
            <Mark of={error ? 'failed' : finishedAt ? 'success' : 'running'} word={`attempt ${index + 1}`} />{' '}
            <When at={startedAt} />
            {tookMs !== undefined && <span class="quiet"> · {formatDuration(tookMs)}</span>}
            {error && <span class="sub bad">{error}</span>}
            {!error && output !== undefined && (
              <span class="sub">
                <code>{show(redact(output))}</code>
              </span>
            )}
          </li>
        )
      })}
    </ol>
  )
}
