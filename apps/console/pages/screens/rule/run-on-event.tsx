import type { Rule } from '@automation/client'
import { evaluateDefinition } from '../../logic/evaluate-definition.js'
import { listRivals } from '../../logic/rivals.js'
import { definitionOf } from '../../logic/rule-definition.js'
import { Dialog } from '../../parts/dialog.js'
import { laterDialog } from '../../parts/later.js'
import { stopAsking } from '../../parts/question.js'
import { Loading, Problem } from '../../parts/states.js'
import { asked } from '../../state/asked.js'
import { useDefinitions } from '../../state/use-rules.js'
import { mostShown, SampleLine } from './samples.js'
import { useSamples } from './use-samples.js'

const PlanOfEvent = laterDialog('Replay the event?', () =>
  import('./plan-of-event.js').then(({ PlanOfEvent }) => PlanOfEvent),
)

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
