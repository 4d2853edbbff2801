import { useState } from 'preact/hooks'
import { type Definition, readDefinition, writeDefinition } from '../../logic/rule-definition.js'

/** The whole definition as text: for what the form does not offer, and for copying. */
export function JsonTab({
  definition,
  change,
  isReadOnly,
}: {
  definition: Definition
  change: (definition: Definition) => void
  isReadOnly: boolean
}) {
  const [text, setText] = useState(() => writeDefinition(definition))
  const read = readDefinition(text)
  return (
    <label class="field">
      <span class="label">Definition</span>
      <textarea
        class="code"
        rows={28}
        spellcheck={false}
        readOnly={isReadOnly}
        value={text}
        aria-invalid={typeof read === 'string'}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          const next = readDefinition(currentTarget.value)
          if (typeof next !== 'string') change(next)
        }}
      />
      <span class={typeof read === 'string' ? 'sub bad' : 'sub'} role="status">
        {typeof read === 'string' ? `Not applied yet: ${read}` : 'Applied to the editor.'}
      </span>
    </label>
  )
}
