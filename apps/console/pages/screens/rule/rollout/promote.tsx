import { ApiError, type GuardToSet, type Rule, type RuleDraft } from '@automation/client'
import { useState } from 'preact/hooks'
import { DialogForm } from '../../../parts/dialog-form.js'
import { api } from '../../../state/session.js'
import { useChange } from '../../../state/use-change.js'
import { readAgain } from '../../../state/use-query.js'
import { readDraft } from '../use-draft-saving.js'
import type { ForeignChange } from './changed-meanwhile.js'
import { GuardFields, type GuardForm, guardOf } from './guard-fields.js'

export interface PromoteProps {
  rule: Rule
  saved: RuleDraft
  reload: () => Promise<Rule | undefined>
  /** The rule or its draft has changed: nothing was promoted. */
  refuse: (change: ForeignChange) => void
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
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 412)) throw error
        const [now, draft] = await Promise.all([api().rules.get(rule.id), readDraft(rule.id)])
        refuse({ seen: { rule, draft: saved }, now: { rule: now, draft } })
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
