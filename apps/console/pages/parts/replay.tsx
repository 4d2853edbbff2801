import type { Event, Rule } from '@automation/client'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { nameEvent } from '../logic/name-event.js'
import { api } from '../state/session.js'
import { useChange } from '../state/use-change.js'
import { linkTo } from '../state/use-filters.js'
import { Bulk } from './bulk.js'
import { DialogForm } from './dialog-form.js'
import { Opener } from './opener.js'
import { stopAsking, useStopAsking } from './question.js'
import { hasRun, isOfService, PlanView, ReplayPlan, usePlans } from './replay-plan.js'
import { Unread } from './states.js'
import { When } from './when.js'

/** The button of a replay. It asks first: calls and emails are made again. */
export function Replay({ event }: { event: Event }) {
  return (
    <Opener label="Replay with the current rules…">
      <ReplayDialog event={event} />
    </Opener>
  )
}

/** @param only the rule that is chosen at first; without it those that did not run before */
export function ReplayDialog({ event, only }: { event: Event; only?: Pick<Rule, 'id' | 'name'> }) {
  const { id, ruleId, results } = event
  const { route } = useLocation()
  const { change, problem, isBusy } = useChange('events')
  const stop = useStopAsking()
  const [picked, choose] = useState<ReadonlySet<string> | undefined>(only && new Set([only.id]))
  const hasBefore = hasRun(results.find((result) => result.ruleId === only?.id))
  const isRun = only !== undefined && !hasBefore
  const [isMissing, setMissing] = useState(false)
  const planned = usePlans(isOfService(event) ? undefined : [id], async () => event)
  const matching = (ruleId === null && planned.data?.[0]?.rules.map((rule) => rule.id)) || []
  const notRun = matching.filter((one) => !hasRun(results.find((result) => result.ruleId === one)))
  // The plan is read again after a lost connection: what is not shown any more is not chosen.
  const chosen = new Set(picked ? matching.filter((one) => picked.has(one)) : notRun)
  const onlyFirst = (one: { id: string }, other: { id: string }) =>
    Number(other.id === only?.id) - Number(one.id === only?.id)
  async function replay(): Promise<void> {
    setMissing(matching.length > 0 && chosen.size === 0)
    if (matching.length > 0 && chosen.size === 0) return
    const isForAll = chosen.size === matching.length
    const run = await change(() => api().events.replay(id, isForAll ? {} : { rules: [...chosen] }))
    if (run !== undefined && stop()) route(linkTo('events', { id: run.id }))
  }
  return (
    <DialogForm
      title={only ? `Run ${only.name} on this event${hasBefore ? ' again' : ''}?` : 'Replay the event?'}
      send={only ? 'Run' : 'Replay'}
      submit={replay}
      problem={isMissing ? 'Choose a rule' : problem}
      close={stopAsking}
      isBusy={isBusy}
    >
      {only && (
        <p>
          <code>{event.type}</code> <strong>{nameEvent(event.data)}</strong>, accepted{' '}
          <When at={event.acceptedAt} />
        </p>
      )}
      <p>
        {isRun
          ? 'The same data becomes a new event for the rule as it is now.'
          : 'The same data becomes a new event for the rules as they are now. All that they do is done again.'}
      </p>
      {!only && notRun.length < matching.length && (
        <p>Rules that ran for this event before are not chosen.</p>
      )}
      {only && planned.data && ruleId === null && !matching.includes(only.id) && (
        <p class="notice">
          {only.name} would not run: the event does not match it, or another rule of its group comes first.
        </p>
      )}
      {isOfService(event) && <p>It goes to its subscription again; no rule sees it.</p>}
      {!isOfService(event) && !planned.data && <Unread {...planned} what="what would run" />}
      {planned.data && (
        <PlanView
          plans={planned.data.map((plan) => ({ ...plan, rules: plan.rules.toSorted(onlyFirst) }))}
          choice={
            ruleId === null
              ? { chosen, choose, before: results, verb: only ? 'Run' : 'Replay for' }
              : undefined
          }
        />
      )}
    </DialogForm>
  )
}

/** Replays the chosen events, after it has said which rules would run and what they would send. */
export function ReplayMany({ ids, clear }: { ids: string[]; clear: () => void }) {
  return (
    <Bulk
      label="Replay…"
      verb="Replay"
      one="event"
      done="replayed"
      note="The same data becomes new events for the rules as they are now. All that they do is done again. Events that are replays themselves, that executions emitted, or that are still in progress are left out."
      filter={{ ids }}
      act={replaySome}
      clear={clear}
    >
      <ReplayPlan ids={ids} read={(id) => api().events.get(id)} />
    </Bulk>
  )
}

/** @returns how many of them were replayed. A slow call ends early, and the next one continues. */
async function replaySome(filter: { ids: string[] }): Promise<number> {
  let sum = 0
  let cursor: string | null | undefined
  do {
    const answer = await api().events.replayMany({
      filter,
      dryRun: false,
      ...(cursor != null && { cursor }),
    })
    if (!('replayed' in answer)) return sum
    sum += answer.replayed
    cursor = answer.nextCursor
  } while (cursor != null)
  return sum
}
