import type { EmailTemplate, EmailTemplateToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { DialogForm } from '../../parts/dialog-form.js'
import { TextField } from '../../parts/text-field.js'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'

export function NewTemplate({ close }: { close: () => void }) {
  return (
    <TemplateForm
      title="New email template"
      send="Create"
      first={{ name: '', text: '', html: '' }}
      save={(values) => api().emailTemplates.create(values)}
      close={close}
    />
  )
}

export function EditTemplate({ template, close }: { template: EmailTemplate; close: () => void }) {
  const { id, name, text, html } = template
  return (
    <TemplateForm
      title="Edit the template"
      send="Save"
      first={{ name, text: text ?? '', html: html ?? '' }}
      save={(values) => api().emailTemplates.update(id, values)}
      close={close}
    />
  )
}

interface Values {
  name: string
  text: string
  html: string
}

function TemplateForm({
  title,
  send,
  first,
  save,
  close,
}: {
  title: string
  send: string
  first: Values
  save: (values: EmailTemplateToCreate) => PromiseLike<unknown>
  close: () => void
}) {
  const { change, problem, isBusy } = useChange('templates')
  const [values, setValues] = useState(first)
  const set = (changes: Partial<Values>) => setValues({ ...values, ...changes })
  return (
    <DialogForm
      wide
      {...{ title, send, close, problem, isBusy }}
      note="Takes effect with the next email."
      submit={async () => {
        const { name, text, html } = values
        const texts = { ...(text !== first.text && { text }), ...(html !== first.html && { html }) }
        if ((await change(async () => save({ name, ...texts }))) !== undefined) close()
      }}
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
