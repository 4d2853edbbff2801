import type { Rule } from '@automation/client'
import { type Definition, definitionOf, writeDefinition } from '../../logic/rule-definition.js'
import { Dialog } from '../../parts/dialog.js'
import { DiffView } from '../../parts/diff-view.js'

interface Props {
  mine: Definition
  theirs: Rule
  keepMine: () => void
  takeTheirs: () => void
  close: () => void
}

/** Somebody saved the rule meanwhile. Nothing is lost: the reader sees the difference and decides. */
export function Conflict({ mine, theirs, keepMine, takeTheirs, close }: Props) {
  return (
    <Dialog title="The rule has changed in the meantime" close={close} wide>
      <p>
        It is at v{theirs.version} now, and your changes began with an older version. They are kept. Lines
        with − are what is saved now, lines with + are yours.
      </p>
      <DiffView
        before={writeDefinition(definitionOf(theirs))}
        after={writeDefinition(mine)}
        label="What is saved now, and your changes"
      />
      <div class="row end">
        <button type="button" onClick={takeTheirs}>
          Discard my changes
        </button>
        <button type="button" class="primary" onClick={keepMine}>
          Keep my changes, on top of v{theirs.version}
        </button>
      </div>
    </Dialog>
  )
}
