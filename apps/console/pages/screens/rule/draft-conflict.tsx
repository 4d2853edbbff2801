import type { RuleDraft } from '@automation/client'
import { nameActor } from '../../logic/name-actor.js'
import { type Definition, definitionOf } from '../../logic/rule-definition.js'
import { Dialog } from '../../parts/dialog.js'
import { When } from '../../parts/when.js'
import { DefinitionChanges } from './definition-changes.js'

interface Props {
  mine: Definition
  theirs: RuleDraft
  save: (ifTag: string) => Promise<void>
  close: () => void
}

/** The rule has another draft than the one that the changes began with. Nothing is lost: the reader decides. */
export function DraftConflict({ mine, theirs, save, close }: Props) {
  return (
    <Dialog title="The rule has another draft" close={close} wide>
      <p>
        {nameActor(theirs.savedBy)} saved it at <When at={theirs.savedAt} />
        {theirs.isStale && ', and the rule has changed since'}. Your changes are kept.
      </p>
      <DefinitionChanges
        title="How yours differs from that draft"
        before={definitionOf(theirs as Definition)}
        after={mine}
      />
      <div class="row end">
        <button type="button" onClick={close}>
          Keep that draft
        </button>
        <button type="button" class="primary" onClick={() => void save(theirs.etag)}>
          Replace it with my changes
        </button>
      </div>
    </Dialog>
  )
}
