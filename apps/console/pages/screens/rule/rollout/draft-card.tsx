import type { Rule, RuleDraft } from '@automation/client'
import { useState } from 'preact/hooks'
import { nameActor } from '../../../logic/name-actor.js'
import { type Definition, definitionOf } from '../../../logic/rule-definition.js'
import { Confirm } from '../../../parts/confirm.js'
import { Alert, ReadState } from '../../../parts/states.js'
import { When } from '../../../parts/when.js'
import { api, may } from '../../../state/session.js'
import { useChange } from '../../../state/use-change.js'
import { useFilters } from '../../../state/use-filters.js'
import { useQuery } from '../../../state/use-query.js'
import { Conflict, type Meanwhile } from '../conflict.js'
import { DefinitionChanges } from '../definition-changes.js'
import type { DraftMark } from '../draft-note.js'
import type { UnsavedState } from '../use-unsaved.js'
import { DifferenceView, nextComparisonMs, waitSeconds } from './difference-view.js'
import { usualGuard } from './guard-fields.js'
import { Promote, type PromoteProps } from './promote.js'

export interface RuleEditing {
  rule: Rule
  unsaved: UnsavedState
  reload: () => Promise<Rule | undefined>
}

/** The next version of the rule, which does nothing yet: how it differs, and what it would have done since it was saved. */
export function DraftCard({ rule, mark, unsaved, reload }: RuleEditing & { mark: DraftMark | null }) {
  // Another save is another draft.
  const found = useQuery<RuleDraft>({
    key: mark === null ? undefined : ['draft', rule.id, mark.savedAt],
    read: () => api().rules.drafts.get(rule.id, { wait: waitSeconds }),
    pollMs: nextComparisonMs,
  })
  const [changed, setChanged] = useState<Meanwhile>()
  // What was typed stays where a promotion is refused, and another draft comes.
  const [guard, setGuard] = useState(usualGuard)
  const saved = mark === null ? undefined : found.data
  return (
    <section class="card" aria-labelledby="draft">
      <h2 id="draft">Draft</h2>
      {mark !== null && <ReadState {...found} what="the draft" rows={3} />}
      {mark === null && <NoDraft isChanged={unsaved.isChanged} />}
      {saved && (
        <>
          <Standing {...{ rule, saved }} />
          {may('editor') && (
            <DraftActions
              {...{ rule, saved, unsaved, reload }}
              refuse={setChanged}
              {...{ guard, setGuard }}
            />
          )}
          <div class="halves">
            <div>
              <DefinitionChanges
                title={`What it changes in v${rule.version}`}
                before={definitionOf(rule)}
                after={definitionOf(saved as Definition)}
              />
            </div>
            <div>
              <h3>What it would have done since it was saved</h3>
              <DifferenceView
                comparison={saved}
                definition={saved as Definition}
                word="the draft"
                look={() => found.refetch()}
                isLooking={found.isFetching}
              />
            </div>
          </div>
        </>
      )}
      {changed && <Conflict {...changed} close={() => setChanged(undefined)} />}
    </section>
  )
}

function NoDraft({ isChanged }: { isChanged: boolean }) {
  const { set } = useFilters()
  return (
    <>
      <p>
        There is no draft. A draft is the next version of the rule: everyone in the workspace sees it, and it
        does nothing until it is promoted. It shows what it would have done.
      </p>
      {may('editor') ? (
        <p class="quiet">
          {isChanged
            ? 'You have changes in the editor: “Save as draft” above makes them the draft.'
            : 'Change something in the editor, then choose “Save as draft”.'}
        </p>
      ) : (
        <p class="quiet">You have read-only access. Editors can save drafts.</p>
      )}
      {may('editor') && !isChanged && (
        <button type="button" onClick={() => set({ tab: '' })}>
          Open the editor
        </button>
      )}
    </>
  )
}

/** Who saved it, and whether it can be promoted. */
function Standing({ rule, saved }: { rule: Rule; saved: RuleDraft }) {
  const { change, problem, isBusy } = useChange('rollouts')
  return (
    <>
      <p class="quiet">
        Saved <When at={saved.savedAt} /> by {nameActor(saved.savedBy)}, made from v{saved.basedOn}.
      </p>
      {saved.isStale && (
        <div class="notice">
          <p>
            The rule is now at v{rule.version}, so the draft cannot be promoted as it is. Below is how it
            differs from v{rule.version}.
          </p>
          {may('editor') && (
            <button
              type="button"
              aria-disabled={isBusy}
              onClick={() =>
                change(() =>
                  api().rules.drafts.save(rule.id, definitionOf(saved as Definition) as never, {
                    ifTag: saved.etag,
                  }),
                )
              }
            >
              Keep it, on top of v{rule.version}
            </button>
          )}
          <Alert>{problem}</Alert>
        </div>
      )}
    </>
  )
}

function DraftActions({
  rule,
  saved,
  unsaved,
  reload,
  ...promotion
}: RuleEditing & Pick<PromoteProps, 'saved' | 'refuse' | 'guard' | 'setGuard'>) {
  const { set } = useFilters()
  const [said, say] = useState<string>()
  return (
    <div class="row">
      {may('publish') && <Promote {...{ rule, saved, reload }} {...promotion} />}
      <button
        type="button"
        onClick={() => {
          if (unsaved.isChanged) {
            say('You have other changes in the editor. Save or discard them first.')
            return
          }
          unsaved.edit(definitionOf(saved as Definition), saved.basedOn, saved.etag)
          set({ tab: '' })
        }}
      >
        Edit the draft
      </button>
      <Confirm
        label="Discard the draft"
        title={`Discard the draft of ${rule.name}`}
        work={() => api().rules.drafts.delete(rule.id, { ifTag: saved.etag })}
        reads="rollouts"
      >
        <p>The rule stays as it is. The draft is deleted.</p>
      </Confirm>
      <span role="status">{said}</span>
    </div>
  )
}
