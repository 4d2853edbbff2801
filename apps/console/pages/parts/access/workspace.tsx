import schema from 'schema:WorkspaceToDelete'
import { useState } from 'preact/hooks'
import { api, workspace } from '../../state/session.js'
import { Confirm } from '../confirm.js'
import { Opener } from '../opener.js'
import { SchemaForm } from '../schema-form.js'
import { enact } from '../suspension-notice.js'

/** To suspend the workspace, or delete it. Above every screen stands how that is undone. */
export function WorkspaceEnd() {
  const { id = '', name = '', suspendedAt, deletesAt } = workspace.value ?? {}
  if (deletesAt) return <p>This workspace leaves. Undo its deletion above, and everything is as before.</p>
  return (
    <>
      <section class="card">
        <h2>Suspend</h2>
        <p>Nothing runs and nothing is sent until an admin resumes it. What waits stays.</p>
        {suspendedAt ? (
          <p class="quiet">It is suspended.</p>
        ) : (
          <Confirm
            label="Suspend"
            title={`Suspend ${name}`}
            reads=""
            work={() => enact(api().developer.workspaces.suspend(id))}
          >
            <p>
              No rule starts, webhooks are refused, and members other than admins are shut out. You can resume
              it at any time.
            </p>
          </Confirm>
        )}
      </section>
      <section class="card">
        <h2>Delete</h2>
        <p>
          The workspace is suspended for 7 days, in which an admin can undo that, and then deleted
          permanently.
        </p>
        <Opener label="Delete" title={`Delete ${name}`}>
          <DeleteForm id={id} name={name} />
        </Opener>
      </section>
    </>
  )
}

function DeleteForm({ id, name }: { id: string; name: string }) {
  const [values, set] = useState({ name: '' })
  return (
    <SchemaForm
      title={`Delete ${name}?`}
      send="Delete"
      look="danger"
      reads=""
      schema={schema}
      texts={{ name: { label: 'Name of the workspace', required: true, hint: `Type ${name}` } }}
      submit={() => enact(api().developer.workspaces.delete(id, values.name))}
      {...{ values, set }}
    >
      <p>
        In 7 days its rules, events, executions, members, keys, secrets and audit log are gone, and nobody can
        restore them.
      </p>
    </SchemaForm>
  )
}
