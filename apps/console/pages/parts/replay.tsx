import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { describeError, readAgain, useQuery } from '../state/use-query.js'
import { DialogForm } from './dialog-form.js'
import { type Plan, PlanView, planReplay, type Replayed } from './replay-plan.js'
import { ReadState } from './states.js'

/** The button of a replay. It asks first: calls and emails are made again. */
export function Replay({ event }: { event: Replayed }) {
  const [isOpen, open] = useState(false)
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        Replay with the current rules…
      </button>
      {isOpen && <ReplayDialog event={event} close={() => open(false)} />}
    </>
  )
}

function ReplayDialog({ event: { id, type, data, ruleId }, close }: { event: Replayed; close: () => void }) {
  const { route } = useLocation()
  // Only the service's own types have a dot: they are delivered to subscriptions.
  const isDelivery = type.includes('.')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const planned = useQuery<Plan>({
    key: isDelivery ? undefined : ['replay', id],
    read: () => planReplay({ type, data, ruleId }),
    pollMs: false,
    staleMs: 0,
  })
  async function replay(): Promise<void> {
    setBusy(true)
    try {
      const run = await api().events.replay(id)
      await readAgain('events')
      close()
      route(linkTo('events', { id: run.id }))
    } catch (error) {
      setProblem(describeError(error).title)
      setBusy(false)
    }
  }
  return (
    <DialogForm
      title="Replay the event?"
      send="Replay"
      submit={() => void replay()}
      {...{ close, problem, isBusy }}
    >
      <p>The same data becomes a new event for the rules as they are now. All that they do is done again.</p>
      {isDelivery && <p>It goes to its subscription again; no rule sees it.</p>}
      {!isDelivery && <ReadState {...planned} what="what would run" />}
      {planned.data && <PlanView plan={planned.data} />}
    </DialogForm>
  )
}
