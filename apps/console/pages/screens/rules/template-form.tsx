import type { EmailTemplate, EmailTemplateToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { DialogForm } from '../../parts/dialog-form.js'
import { TextField } from '../../parts/text-field.js'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'

/** @param of the one that is changed; undefined for a new one */
export function TemplateForm({ of, close }: { of?: EmailTemplate; close: () => void }) {
  const { change, problem, isBusy } = useChange('templates')
  const first = { name: of?.name ?? '', text: of?.text ?? '', html: of?.html ?? '' }
  const [values, setValues] = useState(first)
  const set = (changes: Partial<typeof first>) => setValues({ ...values, ...changes })
  async function save(): Promise<void> {
    const { name, text, html } = values
    const body = { name, ...(text !== first.text && { text }), ...(html !== first.html && { html }) }
    const { emailTemplates } = api()
    const saved = await change(() =>
      of ? emailTemplates.update(of.id, body) : emailTemplates.create(body as EmailTemplateToCreate),
    )
    if (saved !== undefined) close()
  }
  return (
    <DialogForm
      wide
      title={of ? 'Edit the template' : 'New email template'}
      send={of ? 'Save' : 'Create'}
      {...{ close, problem, isBusy }}
      note="Takes effect with the next email."
      submit={save}
    >
      <TextField label="Name" required maxLength={200} value={values.name} set={(name) => set({ name })} />
      <label>
        Text
        <textarea
          rows={8}
          aria-describedby="template-hint"
          value={values.text}
          onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        />
      </label>
      <label>
        HTML
        <textarea
          rows={8}
          spellcheck={false}
          aria-describedby="template-hint"
          value={values.html}
          onInput={({ currentTarget }) => set({ html: currentTarget.value })}
        />
      </label>
      <p id="template-hint" class="quiet">
        {
          'Placeholders such as {{name}} are filled in from the event. At least one of text and HTML is needed.'
        }
      </p>
    </DialogForm>
  )
}
