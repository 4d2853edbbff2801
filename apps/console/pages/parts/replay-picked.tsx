import { countOf } from '../logic/count-words.js'
import { countEffects } from '../logic/describe-action.js'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'
import { ActOnPicked } from './act-on-picked.js'
import { type Plan, planReplay } from './replay-plan.js'
import { Unread } from './states.js'

/** A plan takes two requests. */
const mostPlanned = 5

/** Replays the chosen events, after it has said which rules would run and what they would send. */
export function ReplayPicked({ ids, clear }: { ids: readonly string[]; clear: () => void }) {
  return (
    <ActOnPicked ids={ids} one="event" verb="Replay" done="replayed" clear={clear} act={replaySome}>
      <p>
        The same data becomes new events for the rules as they are now. All that they do is done again. Events
        that are replays themselves, that executions emitted, or that are still in progress are left out.
      </p>
      <Plans ids={ids.slice(0, mostPlanned)} all={ids.length} />
    </ActOnPicked>
  )
}

/** @returns how many of them were replayed. A slow call ends early, and the next one continues. */
async function replaySome(ids: string[]): Promise<number> {
  let sum = 0
  let cursor: string | null | undefined
  do {
    const answer = await api().events.replayMany({
      filter: { ids },
      dryRun: false,
      ...(cursor != null && { cursor }),
    })
    if (!('replayed' in answer)) return sum
    sum += answer.replayed
    cursor = answer.nextCursor
  } while (cursor != null)
  return sum
}

/** What would follow from some of them: of many, the first tell enough. */
function Plans({ ids, all }: { ids: readonly string[]; all: number }) {
  const planned = useQuery<Plan[]>({
    key: ['replay', ...ids],
    read: () =>
      Promise.all(
        ids.map(async (id) => {
          const event = await api().events.get(id)
          // Only the service's own types have a dot: no rule sees them.
          return event.type.includes('.') ? { rules: [], evaluated: 0 } : planReplay(event)
        }),
      ),
    pollMs: false,
    staleMs: 0,
  })
  if (!planned.data) return <Unread {...planned} what="what would run" />
  const rules = planned.data.flatMap((plan) => plan.rules)
  const counts = new Map<string, { name: string; times: number }>()
  for (const { id, name } of rules) counts.set(id, { name, times: (counts.get(id)?.times ?? 0) + 1 })
  const types = rules.flatMap(({ actions }) =>
    actions.filter((one) => !one.isSkipped).map(({ type }) => type),
  )
  const effects = countEffects(types)
  return (
    <>
      <p>
        {all > ids.length && `Of the first ${ids.length}: `}
        <strong>{countOf(counts.size, 'rule')} would run</strong>
        {effects && `, which means ${effects}`}.
      </p>
      <ul class="verdicts">
        {[...counts].map(([id, { name, times }]) => (
          <li key={id}>
            <a href={linkTo(`rules/${id}`)}>{name}</a>{' '}
            <span class="quiet">for {countOf(times, 'event')}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
