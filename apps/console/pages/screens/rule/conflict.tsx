import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { describeAction } from '../../logic/editing/action-words.js'
import { groupKindOf, isClause } from '../../logic/editing/condition-kinds.js'
import { describeCondition } from '../../logic/editing/describe-condition.js'
import { mergeDefinitions, type Side } from '../../logic/editing/merge-definitions.js'
import { namePath } from '../../logic/name-path.js'
import type { Definition } from '../../logic/rule-definition.js'
import { show } from '../../logic/show.js'
import { Dialog } from '../../parts/dialog.js'
import { DefinitionChanges } from './definition-changes.js'

/** What stands there now in place of what somebody began with. */
export interface Meanwhile {
  title: string
  /** What has happened. */
  text: ComponentChildren
  /** Of what stands there now: `v4`, `the other draft`. */
  name: string
  /** undefined: it is no longer kept, or could not be read. Then everything that differs is asked for. */
  base: Definition | undefined
  theirs: Definition
}

export interface ConflictProps extends Meanwhile {
  /** Of somebody who wants to save something else. */
  mine?: { definition: Definition; save: (merged: Definition) => unknown; discard: () => void }
  close: () => void
}

/** Somebody saved meanwhile. What does not meet is put together; what both changed is asked for. Nothing is overwritten unseen. */
export function Conflict({ title, text, name, base, theirs, mine, close }: ConflictProps) {
  const [choices, choose] = useState<ReadonlyMap<string, Side>>(new Map())
  const { merged, conflicts } = mergeDefinitions(base, mine?.definition ?? theirs, theirs, choices)
  const isOpen = conflicts.some(({ path }) => !choices.has(path))
  return (
    <Dialog title={title} close={close} wide>
      <p>
        {text} {mine && sayMerge(conflicts.length, base)}
      </p>
      <div class="halves">
        {base && (
          <div>
            <DefinitionChanges title={`What ${name} changed`} before={base} after={theirs} />
          </div>
        )}
        {mine && (
          <div>
            <DefinitionChanges
              title={base ? 'What you changed' : `How yours differs from ${name}`}
              before={base ?? theirs}
              after={mine.definition}
            />
          </div>
        )}
      </div>
      {conflicts.map(({ path, mine: own, theirs: other }) => (
        <fieldset key={path} class="conflict">
          <legend>{capitalize(namePath(path))}</legend>
          {(['theirs', 'mine'] as const).map((side) => (
            <label key={side} class="inline">
              <input
                type="radio"
                name={`side ${path}`}
                checked={choices.get(path) === side}
                onChange={() => choose(new Map([...choices, [path, side]]))}
              />{' '}
              {side === 'mine' ? 'Yours' : name}: <code>{describeValue(side === 'mine' ? own : other)}</code>
            </label>
          ))}
        </fieldset>
      ))}
      <div class="row end">
        {mine ? (
          <>
            <button type="button" onClick={mine.discard}>
              Discard my changes
            </button>
            <button type="button" class="primary" disabled={isOpen} onClick={() => mine.save(merged)}>
              Save both changes
            </button>
          </>
        ) : (
          <button type="button" class="primary" onClick={close}>
            Show the current state
          </button>
        )}
      </div>
    </Dialog>
  )
}

function sayMerge(conflicts: number, base: Definition | undefined): string {
  if (conflicts === 0) return 'You changed different parts, so both changes can be kept.'
  return base ? 'You both changed the same: choose what stays.' : 'Choose what stays.'
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'removed'
  if (Array.isArray(value)) return value.map(describeValue).join('; ') || 'none'
  if (isClause(value) || groupKindOf(value)) return describeCondition(value as never)
  return typeof value === 'object' && value !== null && 'config' in value
    ? describeAction(value as never)
    : show(value)
}
