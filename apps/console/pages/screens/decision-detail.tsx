import type { Decision, Event } from '@automation/client'
import { useRef, useState } from 'preact/hooks'
import { nameActor } from '../logic/name-actor.js'
import { nameOption } from '../logic/name-option.js'
import { showControls } from '../logic/show.js'
import { Countdown } from '../parts/countdown.js'
import { DetailHead } from '../parts/detail-head.js'
import { Field } from '../parts/field.js'
import { JsonView } from '../parts/json-view.js'
import { Mark } from '../parts/mark.js'
import { Alert, Unread } from '../parts/states.js'
import { When } from '../parts/when.js'
import { linkToEvent, linkToExecution } from '../state/links.js'
import { api, may, type RoleName } from '../state/session.js'
import { toast } from '../state/toasts.js'
import { useChange } from '../state/use-change.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'

interface Props {
  decision: Decision
  /** Of its rule. */
  name: string
  close: () => void
}

/** One decision: what it is about, and the choices. */
export function DecisionDetail({ decision, name, close }: Props) {
  const { id, eventId, ruleId, status, until } = decision
  const event = useQuery<Event>({
    key: ['event', eventId],
    read: () => api().events.get(eventId),
    isRead: may('read events'),
    pollMs: false,
  })
  return (
    <>
      <DetailHead title={name} what="the decision" close={close} />
      <p>
        {status === 'open' ? (
          <>
            <Mark of="waiting" word="waits for a decision" /> · {until && 'due '}
            <Countdown until={until} />
          </>
        ) : (
          <Made decision={decision} />
        )}
      </p>
      <p>
        <a href={linkToExecution(id)}>the execution</a> · <a href={linkToEvent(eventId)}>its event</a> ·{' '}
        <a href={linkTo(`rules/${ruleId}`)}>the rule</a>
      </p>
      {status === 'open' && <DecideForm decision={decision} close={close} />}
      <h3>What it is about</h3>
      {event.data ? (
        <JsonView value={event.data.data} label="Data of the event" />
      ) : inFrame && !may('read events') ? (
        <JsonView value={decision.excerpt ?? {}} label="Data of the event" />
      ) : (
        <Unread {...event} what="the event" />
      )}
      <p class="quiet id">{id}</p>
    </>
  )
}

function Made({ decision: { status, choice, reason, by, decidedAt } }: { decision: Decision }) {
  if (status === 'closed') return <Mark of="skipped" word="no longer needed: the execution has ended" />
  if (status === 'expired') return <Mark of="skipped" word="expired: nobody decided in time" />
  return (
    <>
      <Mark of="done" word={nameOption(choice ?? '')} /> by {by ? nameActor(by) : 'somebody'},{' '}
      <When at={decidedAt} />
      {reason && <span class="sub">“{showControls(reason)}”</span>}
    </>
  )
}

function mayDecide({ roles }: Decision): boolean {
  return (roles ?? ['operator']).some((role) => may(role as RoleName))
}

function DecideForm({ decision, close }: { decision: Decision; close: () => void }) {
  const { id, options, roles, ask } = decision
  const { change, problem, isBusy } = useChange()
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const field = useRef<HTMLTextAreaElement>(null)
  const isNeeded = ask.includes('reason')
  if (!mayDecide(decision))
    return (
      <p class="quiet">{(roles ?? ['operator']).map((role) => `${role}s`).join(' and ')} can decide it.</p>
    )
  async function decide(choice: string): Promise<void> {
    if (isBusy) return
    const text = reason.trim()
    if (isNeeded && text === '') {
      setFault('Required')
      field.current?.focus()
      return
    }
    const body = { choice, ...(text !== '' && { reason: text }) }
    if ((await change(() => api().decisions.decide(id, body))) === undefined) return
    toast(`Decided: ${nameOption(choice)}`)
    close()
  }
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <Field label={isNeeded ? 'Reason (required)' : 'Note (optional)'} fault={fault}>
        {(own) => (
          <textarea
            {...own}
            ref={field}
            aria-required={isNeeded}
            rows={2}
            maxLength={1_000}
            value={reason}
            onInput={({ currentTarget }) => {
              setReason(currentTarget.value)
              setFault(undefined)
            }}
          />
        )}
      </Field>
      <Alert>{problem}</Alert>
      <div class="row">
        {options.map((option) => (
          <button key={option} type="button" aria-disabled={isBusy} onClick={() => void decide(option)}>
            {nameOption(option)}
          </button>
        ))}
      </div>
    </form>
  )
}
