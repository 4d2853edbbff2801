import { findAlmostSame, scheduleType } from '@automation/engine'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { nameType } from '../../../logic/editing/action-words.js'
import { beginSchedule } from '../../../logic/editing/schedule-kinds.js'
import type { Definition } from '../../../logic/rule-definition.js'
import { readTexts, writeList } from '../../../logic/value-kind.js'
import { afterDrawing } from '../../../parts/after-drawing.js'
import { Combobox } from '../../../parts/combobox.js'
import { useRuleNames } from '../../../state/use-rules.js'
import { ActionLines } from './action-lines.js'
import { ConditionLines } from './condition-lines.js'
import { FaultOf, useFault } from './faults.js'
import { GroupChips } from './group-chips.js'
import { PerKeyChips } from './per-key-chips.js'
import { ScheduleChips } from './schedule-chips.js'
import { useTriggers } from './use-choices.js'
import { useTyped } from './use-typed.js'
import { ownZone } from './zone-chip.js'
import '../../../styles/sentence.css'

interface Props {
  ruleId: string
  definition: Definition
  set: (changes: Partial<Definition>) => void
  /** Shown at the end of a condition. */
  note: (index: number) => string | undefined
  /** What is proposed for the conditions. */
  children: ComponentChildren
}

/** When *lead created* and *score* *is above* *80* then *create a task* "Call {{name}}". */
export function Sentence({ ruleId, definition, set, note, children }: Props) {
  const { trigger, conditions, actions } = definition
  return (
    <section class="card sentence" aria-label="The rule">
      <Head {...{ ruleId, definition, set }} />
      <section aria-labelledby="when">
        <h2 id="when" class="hidden">
          When, and if all of these hold
        </h2>
        <Trigger trigger={trigger} change={(next) => set(changeTrigger(definition, next))}>
          {definition.schedule ? (
            <ScheduleChips schedule={definition.schedule} change={(schedule) => set({ schedule })} />
          ) : (
            <GroupChips {...{ ruleId, definition, set }} />
          )}
        </Trigger>
        <FaultOf path="schedule" />
        <FaultOf path="conditions" />
        {conditions.length === 0 && (
          <div class="line">
            <span class="joint" />
            <p class="quiet">
              {trigger === scheduleType
                ? 'Without a condition it runs each time.'
                : `Without a condition it runs for every event “${nameType(trigger)}”.`}
            </p>
          </div>
        )}
        <ConditionLines
          conditions={conditions}
          path="conditions"
          change={(next) => set({ conditions: next })}
          joint="and"
          begin="and"
          note={note}
        />
        {children}
        <PerKeyChips {...{ definition, set }} />
      </section>
      <section aria-labelledby="then">
        <h2 id="then" class="hidden">
          Then
        </h2>
        <ActionLines definition={definition} change={(next) => set({ actions: next })} />
        {!JSON.stringify(actions).includes('{{') && (
          <p class="sub hint">
            Type <code>{'{{'}</code> in a text to put in a field of the event.
          </p>
        )}
      </section>
    </section>
  )
}

/** A schedule comes and goes with its trigger. A tick is for one rule, so that has no group. */
function changeTrigger({ schedule = null }: Definition, trigger: string): Partial<Definition> {
  if (trigger !== scheduleType) return schedule === null ? { trigger } : { trigger, schedule: null }
  return { trigger, schedule: schedule ?? beginSchedule(ownZone), group: null, order: null }
}

/** The names of the other rules are read once somebody writes this one. */
function SimilarName({ ruleId, name }: { ruleId: string; name: string }) {
  const [first] = useState(name)
  const { rules } = useRuleNames([], name !== first)
  const similar = findAlmostSame(
    name,
    rules.flatMap((rule) => (rule.id === ruleId ? [] : [rule.name])),
  )
  if (similar === undefined) return null
  return (
    <p class="sub hint">
      Another rule has almost the same name: only blanks at its ends, or the Unicode form of its letters,
      differ.
    </p>
  )
}

function Head({ ruleId, definition, set }: Pick<Props, 'ruleId' | 'definition' | 'set'>) {
  const { name, description, labels = [] } = definition
  const fault = useFault('name')
  const [isDescribed, describe] = useState(description !== '' || labels.length > 0)
  const isShown = isDescribed || description !== '' || labels.length > 0
  return (
    <div class="sentence-head">
      <div class="row">
        <input
          id="rule-name"
          class="title"
          aria-label="Name"
          placeholder="Name of the rule"
          maxLength={200}
          data-path="name"
          value={name}
          aria-invalid={fault.own.isInvalid || undefined}
          aria-describedby={fault.own.describedBy}
          onInput={({ currentTarget }) => set({ name: currentTarget.value })}
        />
        {!isShown && (
          <button
            type="button"
            class="plain small"
            onClick={() => {
              describe(true)
              afterDrawing(() => document.getElementById('rule-description')?.focus())
            }}
          >
            Describe it
          </button>
        )}
      </div>
      {fault.text}
      <SimilarName {...{ ruleId, name }} />
      {isShown && (
        <input
          id="rule-description"
          class="description"
          aria-label="Description"
          placeholder="What it is for"
          maxLength={2000}
          data-path="description"
          value={description}
          onInput={({ currentTarget }) => set({ description: currentTarget.value })}
        />
      )}
      <FaultOf path="description" />
      {isShown && <Labels labels={labels} change={(next) => set({ labels: next })} />}
      <FaultOf path="labels" />
    </div>
  )
}

function Labels({ labels, change }: { labels: string[]; change: (labels: string[]) => void }) {
  const [text, setText] = useTyped(labels, readTexts, writeList)
  return (
    <input
      class="description"
      aria-label="Labels, separated by commas"
      placeholder="Labels, such as billing, team-a"
      data-path="labels"
      value={text}
      onInput={({ currentTarget: { value } }) => {
        setText(value)
        change(readTexts(value))
      }}
    />
  )
}

function Trigger({
  trigger,
  change,
  children,
}: {
  trigger: string
  change: (trigger: string) => void
  children: ComponentChildren
}) {
  const [isWanted, want] = useState(false)
  const types = useTriggers(isWanted, trigger)
  const fault = useFault('trigger')
  return (
    <fieldset class="line" aria-label={`When: ${nameType(trigger)}`}>
      <span class="joint">When</span>
      <div class="chips">
        <Combobox
          label="When"
          path="trigger"
          look={`chip verb-chip ${fault.look}`}
          isStrict
          value={trigger}
          options={types}
          change={change}
          begin={() => want(true)}
          {...fault.own}
        />
        {fault.text}
        {children}
      </div>
      <span class="line-end" />
    </fieldset>
  )
}
