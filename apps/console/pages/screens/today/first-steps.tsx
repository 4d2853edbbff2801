import type { JSX } from 'preact'
import { CopyButton } from '../../parts/json-view.js'
import { SendSample } from '../../parts/send-sample.js'
import { Source } from '../../parts/source.js'
import { apiUrl, may, workspaceId } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { useRuleNames } from '../../state/use-rules.js'

/** What somebody does who sees the service for the first time: a rule, an event, and its result. Once a rule has run, something else. */
export function FirstSteps({ otherwise }: { otherwise: JSX.Element }) {
  const { rules } = useRuleNames()
  if (rules.some(({ lastSuccessAt, lastFailureAt }) => lastSuccessAt ?? lastFailureAt)) return otherwise
  const command = writeCommand(apiUrl.value, workspaceId.value ?? '')
  return (
    <section class="card first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol>
        <li>
          <h3>1. Write a rule</h3>
          <p>It says: when an event of this type arrives, and these conditions are true, do this.</p>
          {may('editor') ? (
            <a class="button primary" href={linkTo('rules/new')}>
              Write a rule
            </a>
          ) : (
            <p class="quiet">You have read-only access. Editors can write rules.</p>
          )}
        </li>
        <li>
          <h3>2. Send an event</h3>
          <p>
            Send a sample event from here, or post one from your program
            {may('admin') && (
              <>
                {' '}
                with an <a href={linkTo('access', { tab: 'keys' })}>API key</a>
              </>
            )}
            :
          </p>
          <Source label="A command that posts an event">
            <pre>{command}</pre>
          </Source>
          <div class="row">
            <SendSample />
            <CopyButton text={command} label="Copy the command" />
          </div>
        </li>
        <li>
          <h3>3. See what came of it</h3>
          <p>
            <a href={linkTo('events')}>Events</a> say which rules ran, and what stopped the others.{' '}
            <a href={linkTo('executions')}>Executions</a> say what each rule did, and{' '}
            <a href={linkTo('tasks')}>Tasks</a> what it asks people to do.
          </p>
        </li>
      </ol>
    </section>
  )
}

function writeCommand(address: string, workspace: string): string {
  return [
    `curl ${address || 'https://<the API>'}/api/events \\`,
    `  -H "Authorization: Bearer $API_KEY" -H "x-workspace-id: ${workspace}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{ "eventType": "LEAD_CREATED", "data": { "name": "Ada", "email": "ada@example.com", "score": 95 } }'`,
  ].join('\n')
}
