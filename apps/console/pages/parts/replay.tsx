import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { describeError, readAgain, useQuery } from '../state/use-query.js'
import { Dialog } from './dialog.js'
import { type Plan, PlanView, planReplay, type Replayed } from './replay-plan.js'
import { Loading, Problem } from './states.js'

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
    if (isBusy) return
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
    <Dialog title="Replay the event?" close={close}>
      <p>The same data becomes a new event for the rules as they are now. All that they do is done again.</p>
      {isDelivery && <p>It goes to its subscription again; no rule sees it.</p>}
      {!isDelivery && planned.isPending && <Loading what="what would run" />}
      {planned.error && <Problem error={planned.error} retry={() => void planned.refetch()} />}
      {planned.data && <PlanView plan={planned.data} />}
      <p role="alert" class="bad">
        {problem}
      </p>
      <div class="row end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="primary" aria-disabled={isBusy} onClick={() => void replay()}>
          Replay
        </button>
      </div>
    </Dialog>
  )
}
