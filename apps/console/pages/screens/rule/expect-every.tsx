import type { Rule } from '@automation/client'
import { useState } from 'preact/hooks'
import { DialogForm } from '../../parts/dialog-form.js'
import { Field } from '../../parts/field.js'
import { api } from '../../state/session.js'
import { toast } from '../../state/toasts.js'
import { useChange } from '../../state/use-change.js'

/** How long the rule may match nothing before somebody has to look at it. */
export function ExpectEvery({ rule, close }: { rule: Rule; close: () => void }) {
  const { change, problem, isBusy } = useChange('rules')
  const [time, setTime] = useState(rule.expectEvery ?? '')
  const write = (expectEvery: string | null) =>
    api().rules.update(rule.id, { expectEvery }, { ifVersion: rule.version })
  async function save(): Promise<void> {
    const saved = await change(() => write(time === '' ? null : time))
    if (saved === undefined) return
    close()
    toast(time === '' ? `${rule.name} may be silent` : `${rule.name} should match every ${time}`, {
      undo: () => change(() => write(rule.expectEvery)),
    })
  }
  return (
    <DialogForm
      title={`How often ${rule.name} should match`}
      send="Save"
      submit={save}
      {...{ close, problem, isBusy }}
    >
      <Field
        label="At least once in"
        hint="If it matches nothing for so long, it needs attention. Empty: it may be silent."
      >
        {(own) => (
          <input
            {...own}
            placeholder="24h"
            autocomplete="off"
            maxLength={10}
            value={time}
            onInput={({ currentTarget }) => setTime(currentTarget.value.trim())}
          />
        )}
      </Field>
    </DialogForm>
  )
}
