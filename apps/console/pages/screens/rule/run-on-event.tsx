import type { Event, Rule } from '@automation/client'
import { evaluateDefinition } from '../../logic/evaluate-definition.js'
import { listRivals } from '../../logic/rivals.js'
import { definitionOf } from '../../logic/rule-definition.js'
import { Dialog } from '../../parts/dialog.js'
import { stopAsking } from '../../parts/question.js'
import { ReplayDialog } from '../../parts/replay.js'
import { Loading, Problem, Unread } from '../../parts/states.js'
import { asked } from '../../state/asked.js'
import { api } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'
import { useDefinitions } from '../../state/use-rules.js'
import { mostShown, SampleLine } from './samples.js'
import { useSamples } from './use-samples.js'

/** Runs a rule, as it was saved, by a replay of one of the latest events: first which of them, then what it would do. */
export function RunOnEvent({ rule }: { rule: Rule }) {
  const isGrouped = rule.group !== null
  const rules = useDefinitions(isGrouped)
  const { samples, isPending, error, refetch } = useSamples(rule.trigger, undefined, rule.id)
  const definition = definitionOf(rule)
  const events = samples.filter(({ id }) => id !== 'example').slice(0, mostShown)
  const isKnown = !isPending && (!isGrouped || rules !== undefined)
  const { verdicts, problem } = evaluateDefinition(
    definition,
    isKnown ? events : [],
    Date.now(),
    listRivals(rule.id, definition, rules ?? []),
  )
  return (
    <Dialog title={`Run ${rule.name} on an event`} close={stopAsking}>
      {!isKnown && error === null && <Loading what="the latest events" rows={6} />}
      {error !== null && <Problem error={error} retry={refetch} />}
      {problem !== undefined && <p class="notice">{problem}</p>}
      {isKnown && error === null && events.length === 0 && (
        <p class="quiet">There is no event of this type yet.</p>
      )}
      {verdicts.length > 0 && (
        <>
          <p>Choose one of the latest events. Nothing happens yet: its plan comes first.</p>
          <ul class="samples" aria-label="The latest events">
            {verdicts.map((verdict) => (
              <li key={verdict.sample.id}>
                <button
                  type="button"
                  onClick={() => {
                    asked.value = <PlanOfEvent id={verdict.sample.id} rule={rule} />
                  }}
                >
                  <SampleLine verdict={verdict} />
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  )
}

/** The plan needs what became of the event before. */
function PlanOfEvent({ id, rule }: { id: string; rule: Rule }) {
  const event = useQuery<Event>({ key: ['event', id], read: () => api().events.get(id), pollMs: false })
  if (event.data) return <ReplayDialog event={event.data} only={rule} />
  return (
    <Dialog title={`Run ${rule.name} on this event?`} close={stopAsking}>
      <Unread {...event} what="the event" />
    </Dialog>
  )
}
