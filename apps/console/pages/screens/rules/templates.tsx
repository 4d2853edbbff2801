import type { EmailTemplate } from '@automation/client'
import { AdminList } from '../../parts/admin-list.js'
import { Confirm } from '../../parts/confirm.js'
import { DetailHead } from '../../parts/detail-head.js'
import { Opener } from '../../parts/opener.js'
import { Split } from '../../parts/screen.js'
import { Source } from '../../parts/source.js'
import { Unread } from '../../parts/states.js'
import { When } from '../../parts/when.js'
import { api, may } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { useQuery } from '../../state/use-query.js'
import { TemplateForm } from './template-form.js'

/** What the mails of SEND_EMAIL are written with. */
export function Templates() {
  const { query, set } = useFilters()
  return (
    <Split
      list={
        <AdminList
          queryKey="templates"
          what="email templates"
          read={async () => (await api().emailTemplates.list({ limit: 200 })).emailTemplates}
          columns={['Name', 'Changed']}
          selectedId={query.id}
          empty={{
            title: 'No email templates',
            text: 'SEND_EMAIL actions name a template. Without one, a built-in email is sent.',
          }}
          add={may('settings') ? { label: 'New template', form: <TemplateForm /> } : undefined}
          row={({ id, name, updatedAt }) => (
            <>
              <th scope="row">
                <a href={linkTo('rules', { ...query, id })}>{name}</a>
              </th>
              <td data-label="Changed">
                <When at={updatedAt} />
              </td>
            </>
          )}
        />
      }
      detail={query.id && <TemplateDetail key={query.id} id={query.id} close={() => set({ id: '' })} />}
    />
  )
}

function TemplateDetail({ id, close }: { id: string; close: () => void }) {
  const template = useQuery<EmailTemplate>({
    key: ['templates', id],
    read: () => api().emailTemplates.get(id),
    pollMs: false,
  })
  if (!template.data)
    return (
      <>
        <DetailHead title="Template" what="the template" close={close} />
        <Unread {...template} what="the template" />
      </>
    )
  const { name, text, html, updatedAt } = template.data
  return (
    <>
      <DetailHead title={name} what="the template" close={close} />
      <p class="quiet">
        Changed <When at={updatedAt} />
      </p>
      {may('settings') && (
        <div class="row">
          <Opener label="Edit">
            <TemplateForm of={template.data} />
          </Opener>
          <Confirm
            label="Delete"
            title={`Delete the template ${name}`}
            reads="templates"
            work={() => api().emailTemplates.delete(id)}
            after={close}
          >
            <p>Actions that name it will send the built-in email.</p>
          </Confirm>
        </div>
      )}
      {[
        ['Text', text],
        ['HTML', html],
      ].map(([label, source]) => (
        <section key={label} aria-label={label ?? ''}>
          <h3>{label}</h3>
          {source === null ? (
            <p class="quiet">None.</p>
          ) : (
            <Source label={`Source: ${label}`}>
              <pre>{source}</pre>
            </Source>
          )}
        </section>
      ))}
    </>
  )
}
