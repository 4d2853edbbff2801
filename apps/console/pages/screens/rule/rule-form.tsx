import type { EventTypePage, Rule } from '@automation/client'
import { eventTypeDefinitions } from '@automation/engine'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { evaluateDraft } from '../../logic/evaluate-draft.js'
import { listConditionPaths } from '../../logic/paths.js'
import type { Definition } from '../../logic/rule-definition.js'
import { Loading, Problem } from '../../parts/states.js'
import { api, may } from '../../state/session.js'
import { useFilters } from '../../state/use-filters.js'
import { useQuery } from '../../state/use-query.js'
import { useDefinitions } from '../../state/use-rules.js'
import { ActionsEditor } from './actions-editor.js'
import { BacktestCard } from './backtest/backtest-card.js'
import { ConditionList } from './conditions-editor.js'
import { DraftFindings } from './draft-findings.js'
import { FaultOf, Field } from './field.js'
import { Samples } from './samples.js'
import { suggest } from './suggestions.js'
import { useFields } from './use-fields.js'
import { useSamples } from './use-samples.js'

interface Props {
  id: string
  saved: Rule | undefined
  definition: Definition
  change: (definition: Definition) => void
  isChanged: boolean
  eventId: string | undefined
  showFaults: (faults: { field: string; message: string }[], title: string) => void
}

/** The rule on the left; on the right what it would do, and what is odd about it. */
export function RuleForm({ id, saved, definition, change, isChanged, eventId, showFaults }: Props) {
  // A screen opens with three requests: beside the result of a backtest, the fields of events are read once somebody writes.
  const [isTouched, touch] = useState(useFilters().query.backtest === undefined)
  const { samples, isPending, error, refetch } = useSamples(definition.trigger, eventId)
  const evaluation = useMemo(
    () => evaluateDraft(definition, samples, Date.now()),
    [definition, samples.length, samples[0]?.id],
  )
  const paths = useMemo(
    () => listConditionPaths(samples.map(({ data }) => data)),
    [samples.length, samples[0]?.id],
  )
  const fields = useFields(definition.trigger, isTouched)
  const suggestions = useMemo(() => suggest(fields, paths), [fields, paths])
  // A screen opens with three requests: the other rules are read once something is changed.
  const rules = useDefinitions(isChanged)
  const set = (changes: Partial<Definition>) => change({ ...definition, ...changes })
  useNameFocus(definition.name)
  return (
    <div class="editor">
      <fieldset disabled={!may('editor')} class="bare" onFocusIn={() => touch(true)}>
        <Head definition={definition} set={set} />
        <section class="card" aria-labelledby="if">
          <h2 id="if">If all of these hold</h2>
          {definition.conditions.length === 0 && (
            <p class="quiet">No conditions: it runs for every {definition.trigger}.</p>
          )}
          <FaultOf path="conditions" />
          <ConditionList
            conditions={definition.conditions}
            path="conditions"
            suggestions={suggestions}
            change={(conditions) => set({ conditions })}
            note={(index) =>
              evaluation.passedBy[index] === undefined || evaluation.verdicts.length === 0
                ? undefined
                : `${evaluation.passedBy[index]} of ${evaluation.verdicts.length} pass`
            }
          />
        </section>
        <section class="card" aria-labelledby="then">
          <h2 id="then">Then</h2>
          <ActionsEditor actions={definition.actions} change={(actions) => set({ actions })} />
        </section>
      </fieldset>
      <div class="beside">
        <BacktestCard
          ruleId={saved?.id}
          version={saved?.version}
          {...{ definition, isChanged, showFaults }}
        />
        <section class="card" aria-labelledby="tried">
          <h2 id="tried">Tested on events</h2>
          {isPending && <Loading what="the latest events" rows={4} />}
          {error && <Problem error={error} retry={refetch} />}
          {!isPending && !error && (
            <Samples {...{ evaluation, definition }} selectedId={eventId} isSaved={saved !== undefined} />
          )}
        </section>
        <DraftFindings {...{ id, definition, rules, fields }} />
      </div>
    </div>
  )
}

function Head({ definition, set }: { definition: Definition; set: (changes: Partial<Definition>) => void }) {
  const [isChoosing, setChoosing] = useState(false)
  // The types of the workspace are read when somebody chooses.
  const listed = useQuery<EventTypePage>({
    key: isChoosing ? ['event-types'] : undefined,
    read: () => api().eventTypes.list({ limit: 250 }),
    pollMs: false,
  })
  const types = new Set([
    definition.trigger,
    ...eventTypeDefinitions.map(({ type }) => type),
    ...(listed.data?.eventTypes ?? []).map(({ name }) => name),
  ])
  return (
    <section class="card" aria-labelledby="when">
      <h2 id="when" class="hidden">
        The rule
      </h2>
      <Field label="Name" path="name">
        <input
          id="rule-name"
          maxLength={200}
          value={definition.name}
          onInput={({ currentTarget }) => set({ name: currentTarget.value })}
        />
      </Field>
      <Field
        label="When"
        path="trigger"
        hint={eventTypeDefinitions.find(({ type }) => type === definition.trigger)?.description}
      >
        <select
          value={definition.trigger}
          onFocus={() => setChoosing(true)}
          onChange={({ currentTarget }) => set({ trigger: currentTarget.value })}
        >
          {[...types].sort().map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </Field>
      <Field label="Description" path="description">
        <input
          maxLength={2000}
          value={definition.description}
          onInput={({ currentTarget }) => set({ description: currentTarget.value })}
        />
      </Field>
    </section>
  )
}

/** A new rule begins with its name. */
function useNameFocus(name: string): void {
  useEffect(() => {
    if (name === '') document.getElementById('rule-name')?.focus()
  }, [])
}
