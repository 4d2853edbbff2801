import { ApiError, type GuardToSet, type Rule, type RuleDraft } from '@automation/client'
import { useState } from 'preact/hooks'
import { nameActor } from '../../../logic/name-actor.js'
import { type Definition, definitionOf, isSame } from '../../../logic/rule-definition.js'
import { DialogForm } from '../../../parts/dialog-form.js'
import { host } from '../../../state/host.js'
import { api } from '../../../state/session.js'
import { useChange } from '../../../state/use-change.js'
import { readAgain } from '../../../state/use-query.js'
import type { Meanwhile } from '../conflict.js'
import { readDraft } from '../read-draft.js'
import { GuardFields, type GuardForm, guardOf } from './guard-fields.js'

export interface PromoteProps {
  rule: Rule
  saved: RuleDraft
  reload: () => Promise<Rule | undefined>
  /** The rule or its draft has changed: nothing was promoted. */
  refuse: (change: Meanwhile) => void
  guard: GuardForm
  setGuard: (guard: GuardForm) => void
}

/** Makes the draft the next version, as its user has seen both. */
export function Promote({ rule, saved, reload, refuse, guard, setGuard }: PromoteProps) {
  const [isOpen, open] = useState(false)
  const { change, problem, isBusy } = useChange('rollouts')

  async function promote(): Promise<void> {
    const isDone = await change(async () => {
      try {
        await api().rules.drafts.promote(rule.id, { ifTag: saved.etag, guard: guardOf(guard) as GuardToSet })
        if (inFrame) host.say('promoted', { ruleId: rule.id, version: rule.version + 1 })
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 412)) throw error
        const [now, draft] = await Promise.all([api().rules.get(rule.id), readDraft(rule.id)])
        refuse(compare({ rule, draft: saved }, { rule: now, draft }))
      }
      return true
    })
    if (!isDone) return
    open(false)
    await Promise.all([readAgain('draft', rule.id), readAgain('rules'), reload()])
  }

  return (
    <>
      <button type="button" class="primary" disabled={saved.isStale} onClick={() => open(true)}>
        Promote…
      </button>
      {isOpen && (
        <DialogForm
          title={`Promote the draft of ${rule.name}`}
          send="Promote"
          close={() => open(false)}
          submit={promote}
          {...{ problem, isBusy }}
        >
          <p>
            It becomes v{rule.version + 1} of the rule, which stays{' '}
            {rule.mode === 'shadow' ? 'a shadow' : rule.isActive ? 'on' : 'off'}. The draft is deleted.
          </p>
          <GuardFields guard={guard} set={setGuard} version={rule.version} />
        </DialogForm>
      )}
    </>
  )
}

interface Standing<Draft> {
  rule: Rule
  draft: Draft
}

/** Why nothing was promoted: how the rule, or its draft, differs from what was seen. */
function compare(seen: Standing<RuleDraft>, { rule, draft }: Standing<RuleDraft | null>): Meanwhile {
  const before = definitionOf(seen.draft as Definition)
  const after = draft && definitionOf(draft as Definition)
  const isOfRule = after === null || isSame(before, after)
  return {
    title: 'Nothing was promoted: the rule or its draft has changed',
    text: isOfRule
      ? `The rule is at v${rule.version} now; the draft ${draft ? 'is the one that you saw' : 'was promoted or discarded'}.`
      : `${nameActor(draft?.savedBy ?? '')} has saved another draft.`,
    name: isOfRule ? `v${rule.version}` : 'the other draft',
    base: after && isOfRule ? definitionOf(seen.rule) : before,
    theirs: isOfRule ? definitionOf(rule) : after,
  }
}
