import { describeChanges } from '../../logic/editing/describe-changes.js'
import { type Definition, writeDefinition } from '../../logic/rule-definition.js'
import { DiffView } from '../../parts/diff-view.js'
import { ChangeList } from './change-list.js'

interface Props {
  title: string
  level?: 'h2' | 'h3'
  before: Definition
  after: Definition
}

/** How one definition differs from another: a sentence for each change, and on demand their text line by line. */
export function DefinitionChanges({ title, level = 'h3', before, after }: Props) {
  return (
    <>
      <ChangeList title={title} level={level} changes={describeChanges(before, after)} />
      <details>
        <summary>Line by line</summary>
        <DiffView before={writeDefinition(before)} after={writeDefinition(after)} label="Line by line" />
      </details>
    </>
  )
}
