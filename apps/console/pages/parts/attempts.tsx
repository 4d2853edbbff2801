import type { ActionResult } from '@automation/client'
import { formatDuration } from '../logic/format-time.js'
import { show } from '../logic/show.js'
import { Mark } from './mark.js'
import { When } from './when.js'

/** A wait between two attempts that is longer than this is shown as a fold. */
const foldMs = 60_000

/** The actions of a run, from top to bottom, with every attempt of each. */
export function Attempts({ results }: { results: readonly ActionResult[] }) {
  if (results.length === 0) return <p class="quiet">No action has started.</p>
  return (
    <ol class="timeline">
      {results.map((result, index) => (
        <li key={index} class={result.status}>
          <div class="row spread">
            <strong>
              {index + 1}. {result.action}
            </strong>
            <Mark of={result.status} />
          </div>
          {result.reason && <p class="sub">{result.reason}</p>}
          {result.until && (
            <p class="sub">
              until <When at={result.until} />
            </p>
          )}
          {result.attempts && result.attempts.length > 0 ? (
            <Tries attempts={result.attempts} />
          ) : (
            result.error && <p class="sub bad">{result.error}</p>
          )}
          {result.output !== undefined && !result.attempts?.length && (
            <p class="sub">
              <code>{show(result.output)}</code>
            </p>
          )}
          {result.warnings?.map((warning) => (
            <p key={warning} class="sub">
              {warning}
            </p>
          ))}
        </li>
      ))}
    </ol>
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
                <code>{show(output)}</code>
              </span>
            )}
          </li>
        )
      })}
    </ol>
  )
}
