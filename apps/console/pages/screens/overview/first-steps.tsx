import type { RuleSummary } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type RecentSpan, spans } from '../../logic/filters.js'
import { curlOfEvent } from '../../logic/history/write-curl.js'
import { Icon } from '../../parts/icon.js'
import { CopyButton } from '../../parts/json-view.js'
import { SendSample } from '../../parts/send-sample.js'
import { Source } from '../../parts/source.js'
import { Empty, Loading } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { linkToEvent } from '../../state/links.js'
import { useLive } from '../../state/live.js'
import { api, apiUrl, may, workspaceId } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { useQuery } from '../../state/use-query.js'
import { useRuleNames } from '../../state/use-rules.js'

/**
 * What somebody does who sees the service for the first time: a rule, an event, and its result. They stay until the reader leaves, so
 * that the event is seen to arrive; once a rule has run, the screen itself is shown.
 */
export function FirstSteps({
  isEmpty,
  span,
  children,
}: {
  isEmpty: boolean
  span: RecentSpan
  children: ComponentChildren
}) {
  const [beganEmpty] = useState(isEmpty)
  const { rules, areKnown } = useRuleNames([], beganEmpty)
  const [hasRun, setHasRun] = useState<boolean>()
  if (!beganEmpty) return <>{children}</>
  if (!areKnown) return <Loading what="the rules" rows={3} />
  if (hasRun === undefined)
    setHasRun(rules.some(({ lastSuccessAt, lastFailureAt }) => lastSuccessAt ?? lastFailureAt))
  if (!hasRun) return <Steps rule={rules.find(({ isActive }) => isActive)} />
  if (!isEmpty) return <>{children}</>
  return (
    <Empty title={`No events in the ${spans[span].label.toLowerCase()}`}>
      <p>Your programs send events through the API or as signed webhooks.</p>
    </Empty>
  )
}

function Steps({ rule }: { rule: RuleSummary | undefined }) {
  const command = `export API_KEY=<your key>\n${curlOfEvent(apiUrl.value, workspaceId.value ?? '', sample)}`
  return (
    <section class="card first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol>
        <li>
          <h3>1. Write a rule</h3>
          {rule ? (
            <p class="echo good">
              <Icon name="check" />
              <span>
                <a href={linkTo(`rules/${rule.id}`)}>{rule.name}</a> is on
              </span>
            </p>
          ) : (
            <p>It says: when an event of this type arrives, and these conditions are true, do this.</p>
          )}
          {rule ? null : may('editor') ? (
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
            From your program, with an API key{' '}
            {may('admin') ? (
              <>
                (<a href={linkTo('access', { tab: 'keys' })}>create one</a> with the scope{' '}
                <code>rules:run</code>)
              </>
            ) : (
              '(ask an admin for one)'
            )}
            , or a sample from here:
          </p>
          <Source label="A command that posts an event">
            <pre>{command}</pre>
          </Source>
          <div class="row">
            <CopyButton text={command} label="Copy the command" look="" />
            <SendSample />
          </div>
        </li>
        <li>
          <h3>3. See what came of it</h3>
          <Echo />
        </li>
      </ol>
    </section>
  )
}

/** Says that the first event is here, as soon as it is. */
function Echo() {
  const { data, refetch } = useQuery({
    key: ['events', 'newest'],
    read: () => api().events.list({ limit: 1 }),
    pollMs: 20_000,
  })
  useLive(() => void refetch())
  const [event] = data?.events ?? []
  if (event === undefined)
    return (
      <p class="echo" role="status">
        <Icon name="clock" /> Waiting for the first event…
      </p>
    )
  return (
    <>
      <p class="echo good" role="status">
        <Icon name="check" />
        <span>
          <code>{event.type}</code> arrived <When at={event.acceptedAt} />
        </span>
      </p>
      <a class="button primary" href={linkToEvent(event.id)}>
        See what came of it
      </a>
    </>
  )
}

const sample = { type: 'LEAD_CREATED', data: { name: 'Ada', email: 'ada@example.com', score: 95 } }
