import { TextField } from '../../parts/text-field.js'
import '../../styles/history.css'
import type { EventTypeToCreate, ListedEventType } from '@automation/client'
import { useState } from 'preact/hooks'
import { AdminList } from '../../parts/admin-list.js'
import { Confirm } from '../../parts/confirm.js'
import { DialogForm } from '../../parts/dialog-form.js'
import { stopAsking } from '../../parts/question.js'
import { When } from '../../parts/when.js'
import { asked } from '../../state/asked.js'
import { api, may } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { linkTo } from '../../state/use-filters.js'

/** What can come in: the types of the workspace first, which can be changed, then those that everybody has. */
export function EventTypes() {
  return (
    <AdminList
      queryKey="event-types"
      what="event types"
      read={readTypes}
      columns={['Type', 'What it means', { text: 'Created', isLow: true }, '']}
      empty={{ title: 'No event types', text: 'Events of other types are refused.' }}
      add={
        may('editor')
          ? { label: 'New event type', form: (close) => <TypeForm close={close} title="New event type" /> }
          : undefined
      }
      row={(type) => <TypeCells type={type} />}
    />
  )
}

interface TypeRow extends ListedEventType {
  id: string
}

async function readTypes(): Promise<TypeRow[]> {
  const types = await api().eventTypes.list({ limit: 250 }).all()
  return types
    .map((type) => ({ ...type, id: type.name }))
    .toSorted((left, right) => Number(right.isOwn) - Number(left.isOwn))
}

function TypeCells({ type: { name, description, createdAt, isOwn } }: { type: TypeRow }) {
  // At the end of the page: what holds for a cell does not hold for a dialog.
  const edit = () => {
    asked.value = <TypeForm title={`Describe ${name}`} of={{ name, description }} close={stopAsking} />
  }
  return (
    <>
      <th scope="row">
        <a href={linkTo('events', { type: name, last: '30d' })}>
          <code>{name}</code>
        </a>
      </th>
      <td class="line" title={description}>
        {description || <span class="quiet">–</span>}
      </td>
      <td class="low at">{isOwn ? <When at={createdAt} /> : <span class="quiet">built in</span>}</td>
      <td class="actions-cell">
        {isOwn && may('editor') && (
          <div class="row">
            <button type="button" aria-label={`Describe ${name}`} onClick={edit}>
              Describe
            </button>
            <Confirm
              label="Delete"
              title={`Delete the event type ${name}`}
              reads="event-types"
              work={() => api().eventTypes.delete(name)}
            >
              <p>Its events stay. New ones are refused. A type that a rule uses cannot be deleted.</p>
            </Confirm>
          </div>
        )}
      </td>
    </>
  )
}

function TypeForm({ title, of, close }: { title: string; of?: EventTypeToCreate; close: () => void }) {
  const { change, problem, isBusy } = useChange('event-types')
  const [values, setValues] = useState({ name: of?.name ?? '', description: of?.description ?? '' })
  const { name, description } = values
  return (
    <DialogForm
      title={title}
      send={of ? 'Save' : 'Create'}
      {...{ close, problem, isBusy }}
      submit={async () => {
        const save = () =>
          of ? api().eventTypes.update(name, { description }) : api().eventTypes.create({ name, description })
        if ((await change<unknown>(save)) !== undefined) close()
      }}
    >
      {!of && (
        <TextField
          label="Name"
          required
          maxLength={64}
          placeholder="ORDER_SHIPPED"
          value={name}
          set={(typed) => setValues({ ...values, name: typed })}
        />
      )}
      <TextField
        label="What it means"
        maxLength={2000}
        value={description}
        set={(typed) => setValues({ ...values, description: typed })}
      />
    </DialogForm>
  )
}
