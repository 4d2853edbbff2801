import type { Rule, RuleDraft } from '@automation/client'
import { nameActor } from '../../../logic/name-actor.js'
import { type Definition, definitionOf, isSame } from '../../../logic/rule-definition.js'
import { Dialog } from '../../../parts/dialog.js'
import { DefinitionChanges } from '../definition-changes.js'

export interface ForeignChange {
  /** What its user has seen. */
  seen: { rule: Rule; draft: RuleDraft }
  now: { rule: Rule; draft: RuleDraft | null }
}

/** Why nothing was promoted: how the rule, or its draft, differs from what was seen. */
export function ChangedMeanwhile({ seen, now, close }: ForeignChange & { close: () => void }) {
  const { sentence, before, after } = compare(seen, now)
  return (
    <Dialog title="Nothing was promoted: the rule or its draft has changed" close={close} wide>
      <p>{sentence}</p>
      <DefinitionChanges title="What is different from what you saw" {...{ before, after }} />
      <div class="row end">
        <button type="button" class="primary" onClick={close}>
          Show the current state
        </button>
      </div>
    </Dialog>
  )
}

function compare({ rule, draft }: ForeignChange['seen'], now: ForeignChange['now']) {
  const before = definitionOf(draft as Definition)
  if (now.draft === null)
    return {
      sentence: `The draft was promoted or discarded. The rule is at v${now.rule.version}.`,
      before,
      after: definitionOf(now.rule),
    }
  const after = definitionOf(now.draft as Definition)
  return isSame(before, after)
    ? {
        sentence: `The rule is now at v${now.rule.version}; the draft is the one that you saw.`,
        before: definitionOf(rule),
        after: definitionOf(now.rule),
      }
    : { sentence: `${nameActor(now.draft.savedBy)} has saved another draft.`, before, after }
}
