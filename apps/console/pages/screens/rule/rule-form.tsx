import type { Rule } from '@automation/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { describeSaved } from '../../logic/editing/describe-saved.js'
import { writeRun } from '../../logic/editing/format-run.js'
import { evaluateDefinition } from '../../logic/evaluate-definition.js'
import { listConditionPaths } from '../../logic/paths.js'
import { listRivals } from '../../logic/rivals.js'
import type { Definition } from '../../logic/rule-definition.js'
import { later } from '../../parts/later.js'
import { useModule } from '../../parts/use-module.js'
import { may } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { useFilters } from '../../state/use-filters.js'
import { useDefinitions } from '../../state/use-rules.js'
import type { DraftMark } from './draft-note.js'
import { Preview } from './preview.js'
import { type Editing, EditingContext } from './sentence/editing.js'
import { Faults } from './sentence/faults.js'
import { Sentence } from './sentence/sentence.js'
import { suggest } from './suggestions.js'
import { useFaults } from './use-faults.js'
import { useFields } from './use-fields.js'
import { useSamples } from './use-samples.js'
import type { Saving } from './use-saving.js'
import type { UnsavedState } from './use-unsaved.js'

/** It comes after the fields of events, which it reads. */
const Proposals = later('proposals', () => import('./proposals.js').then(({ Proposals }) => Proposals), null)

interface Props {
  id: string
  saved: Rule | undefined
  unsaved: UnsavedState
  saving: Saving
  draft: DraftMark | undefined
  eventId: string | undefined
}

/** The rule as a sentence; beside it what it would do, and what is odd about it. */
export function RuleForm({ id, saved, unsaved, saving, draft, eventId }: Props) {
  const { definition, isChanged } = unsaved
  const { query } = useFilters()
  // A screen opens with three requests: beside the result of a backtest, or the rules of a group, the fields of events are read once somebody
  // writes, and the other rules once something is changed.
  const isGrouped = typeof definition.group === 'string'
  const [isTouched, touch] = useState(query.backtest === undefined && !isGrouped)
  const rules = useDefinitions(isChanged || (isGrouped && query.backtest === undefined))
  const samples = useSamples(definition.trigger, eventId, saved?.id)
  const { samples: events } = samples
  const evaluation = useMemo(
    () => evaluateDefinition(definition, events, Date.now(), listRivals(id, definition, rules ?? [])),
    [definition, events.length, events[0]?.id, rules],
  )
  const paths = useMemo(
    () => listConditionPaths(events.map(({ data }) => data)),
    [events.length, events[0]?.id],
  )
  const fields = useFields(definition.trigger, isTouched)
  const suggestions = useMemo(() => suggest(fields, paths), [fields, paths])
  const { change, editing } = useEditingOf(unsaved, saving, suggestions)
  const isFresh = saved !== undefined && !isChanged && query.saved === `${saved.version}`
  const set = (changes: Partial<Definition>) => change({ ...definition, ...changes })
  const { module: check } = useModule(
    () => import('../../logic/editing/find-definition-faults.js'),
    true,
    definition,
  )
  const faults = useMemo(
    () => check?.findDefinitionFaults(definition) ?? evaluation.faults,
    [check, definition, evaluation.faults],
  )
  const { listed, placed, watch } = useFaults(faults, saving.faults, definition.actions)
  useNameFocus(definition.name)
  return (
    <EditingContext.Provider value={editing}>
      <Faults.Provider value={placed}>
        <p role="status" class={isFresh ? 'notice saved' : 'hidden'}>
          {isFresh && describeSaved(saved, evaluation, (iso) => writeRun(iso, saved.schedule ?? {}))}
          {isFresh && draft && draft.basedOn < saved.version && (
            <> The draft is from v{draft.basedOn}, an older version.</>
          )}
        </p>
        <div class="editor">
          <fieldset disabled={!may('editor')} class="bare" onFocusIn={() => touch(true)} {...watch}>
            <Sentence
              ruleId={id}
              definition={definition}
              set={set}
              note={(index) =>
                evaluation.passedBy[index] === undefined || evaluation.verdicts.length === 0
                  ? ''
                  : `${evaluation.passedBy[index]} of ${evaluation.verdicts.length} pass`
              }
            >
              {saved === undefined && eventId !== undefined && (
                <Proposals
                  eventId={eventId}
                  events={events}
                  fields={fields}
                  conditions={definition.conditions}
                  add={(condition) => set({ conditions: [...definition.conditions, condition] })}
                />
              )}
            </Sentence>
          </fieldset>
          <Preview
            {...{ id, saved, definition, isChanged, evaluation, samples, fields, rules, eventId }}
            faults={listed}
            showFaults={saving.showFaults}
          />
        </div>
      </Faults.Provider>
    </EditingContext.Provider>
  )
}

/** A change forgets the faults of its field, and one that removes something says so. */
function useEditingOf(unsaved: UnsavedState, saving: Saving, suggestions: Editing['suggestions']) {
  const removed = useRef<string>()
  const change = (next: Definition) => {
    const before = unsaved.definition
    unsaved.change(next)
    saving.forgetFaults(before, next)
    const what = removed.current
    removed.current = undefined
    if (what) toast(`Removed ${what}`, { undo: () => unsaved.takeBack(before, next) })
  }
  const editing: Editing = {
    suggestions,
    removes: (what) => {
      removed.current = what
    },
    texts: unsaved.texts,
    keepText: unsaved.keepText,
  }
  return { change, editing }
}

/** A new rule begins with its name. */
function useNameFocus(name: string): void {
  useEffect(() => {
    if (name === '') document.getElementById('rule-name')?.focus()
  }, [])
}
