import { useState } from 'preact/hooks'
import { describeAction } from '../../logic/editing/action-words.js'
import { groupKindOf, isClause } from '../../logic/editing/condition-kinds.js'
import { describeChanges } from '../../logic/editing/describe-changes.js'
import { describeCondition } from '../../logic/editing/describe-condition.js'
import { mergeDefinitions, type Side } from '../../logic/editing/merge-definitions.js'
import { namePath } from '../../logic/name-path.js'
import { type Definition, definitionOf } from '../../logic/rule-definition.js'
import { show } from '../../logic/show.js'
import { Dialog } from '../../parts/dialog.js'
import { ChangeList } from './change-list.js'
import type { Meanwhile } from './use-saving.js'

interface Props {
  mine: Definition
  meanwhile: Meanwhile
  saveMerged: (merged: Definition) => Promise<void>
  takeTheirs: () => void
  close: () => void
}

/** Somebody saved the rule meanwhile. What does not meet is put together; what both changed is asked for. Nothing is overwritten unseen. */
export function Conflict({ mine, meanwhile: { base, theirs }, saveMerged, takeTheirs, close }: Props) {
  const [choices, choose] = useState<ReadonlyMap<string, Side>>(new Map())
  const saved = definitionOf(theirs)
  const { merged, conflicts } = mergeDefinitions(base, mine, saved, choices)
  const isOpen = conflicts.some(({ path }) => !choices.has(path))
  return (
    <Dialog title="The rule has changed in the meantime" close={close} wide>
      <p>
        It is at v{theirs.version} now.{' '}
        {conflicts.length === 0
          ? 'You changed different parts, so both changes can be kept.'
          : 'You both changed the same: choose what stays.'}
      </p>
      <div class="halves">
        {base && (
          <ChangeList title={`What v${theirs.version} changed`} changes={describeChanges(base, saved)} />
        )}
        <ChangeList
          title={base ? 'What you changed' : `How yours differs from v${theirs.version}`}
          changes={describeChanges(base ?? saved, mine)}
        />
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
              {side === 'mine' ? 'Yours' : `v${theirs.version}`}:{' '}
              <code>{describeValue(side === 'mine' ? own : other)}</code>
            </label>
          ))}
        </fieldset>
      ))}
      <div class="row end">
        <button type="button" onClick={takeTheirs}>
          Discard my changes
        </button>
        <button type="button" class="primary" disabled={isOpen} onClick={() => void saveMerged(merged)}>
          Save both changes
        </button>
      </div>
    </Dialog>
  )
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'removed'
  if (isClause(value) || groupKindOf(value)) return describeCondition(value as never)
  return typeof value === 'object' && value !== null && 'config' in value
    ? describeAction(value as never)
    : show(value)
}
