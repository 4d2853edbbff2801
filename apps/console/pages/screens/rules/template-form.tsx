import schema from 'schema:EmailTemplateToCreate'
import type { EmailTemplate, EmailTemplateToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { SchemaForm } from '../../parts/schema-form.js'
import { api } from '../../state/session.js'

/** @param of the one that is changed; undefined for a new one */
export function TemplateForm({ of }: { of?: EmailTemplate }) {
  const first = { name: of?.name ?? '', text: of?.text ?? '', html: of?.html ?? '' }
  const [values, set] = useState(first)
  return (
    <SchemaForm
      wide
      title={of ? 'Edit the template' : 'New email template'}
      send={of ? 'Save' : 'Create'}
      note="Takes effect with the next email."
      reads="templates"
      schema={schema}
      texts={{
        name: { label: 'Name' },
        text: { label: 'Text' },
        html: {
          label: 'HTML',
          spellcheck: false,
          hint: 'Placeholders such as {{name}} are filled in from the event. At least one of text and HTML is needed.',
        },
      }}
      submit={() => {
        const { name, text, html } = values
        const body = {
          name,
          ...(text !== first.text && { text: text || null }),
          ...(html !== first.html && { html: html || null }),
        }
        const { emailTemplates } = api()
        return of ? emailTemplates.update(of.id, body) : emailTemplates.create(body as EmailTemplateToCreate)
      }}
      {...{ values, set }}
    />
  )
}
