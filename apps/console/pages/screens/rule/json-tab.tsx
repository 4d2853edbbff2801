import { useState } from 'preact/hooks'
import { type Definition, isSame, readDefinition, writeDefinition } from '../../logic/rule-definition.js'

interface Props {
  definition: Definition
  change: (definition: Definition) => void
  isReadOnly: boolean
  /** Unfinished text of before. */
  kept: string | undefined
  keep: (text: string | undefined) => void
}

/** The whole definition as text: for copying, and for who prefers it. Text that is not finished survives another tab and a reload. */
export function JsonTab({ definition, change, isReadOnly, kept, keep }: Props) {
  const [typed, type] = useState(kept)
  const read = typed === undefined ? definition : readDefinition(typed)
  const isWhole = typeof read !== 'string'
  // Whole text that says something else is older than what stands in the editor.
  const text =
    typed !== undefined && (!isWhole || isSame(read, definition)) ? typed : writeDefinition(definition)
  return (
    <div class="field">
      <label for="definition" class="label">
        Definition
      </label>
      <textarea
        id="definition"
        class="code"
        rows={28}
        spellcheck={false}
        readOnly={isReadOnly}
        data-own-undo
        value={text}
        aria-invalid={!isWhole}
        aria-describedby="definition-state"
        onInput={({ currentTarget }) => {
          type(currentTarget.value)
          const next = readDefinition(currentTarget.value)
          keep(typeof next === 'string' ? currentTarget.value : undefined)
          if (typeof next !== 'string') change(next)
        }}
      />
      <span id="definition-state" class={isWhole ? 'sub' : 'sub bad'} role="status">
        {isWhole ? 'Applied to the editor.' : `Not applied yet: ${read}`}
      </span>
      {!isWhole && (
        <div class="row">
          <button
            type="button"
            onClick={() => {
              type(undefined)
              keep(undefined)
            }}
          >
            Discard the unfinished text
          </button>
        </div>
      )}
    </div>
  )
}
