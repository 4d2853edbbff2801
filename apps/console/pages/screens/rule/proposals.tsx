import type { Condition } from '@automation/client'
import { useMemo } from 'preact/hooks'
import { isEqual } from '../../logic/editing/align-items.js'
import { describeCondition } from '../../logic/editing/describe-condition.js'
import { proposeConditions } from '../../logic/editing/propose-conditions.js'
import type { Sample } from '../../logic/evaluate-definition.js'
import { Icon } from '../../parts/icon.js'
import { focusSoon } from './sentence/editing.js'
import type { Fields } from './use-fields.js'

interface Props {
  eventId: string
  events: readonly Sample[]
  fields: Fields | undefined
  conditions: readonly Condition[]
  add: (condition: Condition) => void
}

/** What tells the event, of which a rule is made, from the others of its type. One press makes it a condition. */
export function Proposals({ eventId, events, fields, conditions, add }: Props) {
  const event = events.find(({ id }) => id === eventId)
  const proposed = useMemo(
    () => (event && fields ? proposeConditions(event.data, fields.observed) : []),
    [event?.id, fields],
  )
  const left = proposed.filter((one) => !conditions.some((condition) => isEqual(condition, one)))
  if (left.length === 0) return null
  return (
    <div class="line">
      <span class="joint" />
      <fieldset class="chips bare" aria-label="Conditions that this event suggests">
        <span class="quiet">From this event:</span>
        {left.map((condition) => (
          <button
            key={describeCondition(condition)}
            type="button"
            class="chip empty-chip"
            onClick={() => {
              add(condition)
              focusSoon(`conditions[${conditions.length}].field`)
            }}
          >
            <Icon name="plus" /> {describeCondition(condition)}
          </button>
        ))}
      </fieldset>
    </div>
  )
}
