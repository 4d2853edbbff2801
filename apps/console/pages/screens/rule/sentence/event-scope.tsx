import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { suggest } from '../suggestions.js'
import { useFields } from '../use-fields.js'
import { EditingContext, useEditing } from './editing.js'

/** Within it paths begin in the data of another type of event, which is surveyed once somebody writes. */
export function EventScope({ type, children }: { type: string; children: ComponentChildren }) {
  const editing = useEditing()
  const [isWanted, want] = useState(false)
  const fields = useFields(type, isWanted && type !== '')
  const suggestions = useMemo(() => suggest(fields, []), [fields])
  return (
    <EditingContext.Provider value={{ ...editing, suggestions }}>
      <span class="contents" onFocusIn={() => want(true)}>
        {children}
      </span>
    </EditingContext.Provider>
  )
}
