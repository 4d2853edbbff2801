import '../../styles/history.css'
import created from 'schema:EventTypeToCreate'
import updated from 'schema:EventTypeToUpdate'
import type { EventTypeToCreate, ListedEventType } from '@automation/client'
import { useState } from 'preact/hooks'
import { AdminList } from '../../parts/admin-list.js'
import { Confirm } from '../../parts/confirm.js'
import { Opener } from '../../parts/opener.js'
import { SchemaForm } from '../../parts/schema-form.js'
import { When } from '../../parts/when.js'
import { api, may } from '../../state/session.js'
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
        may('settings') ? { label: 'New event type', form: <TypeForm title="New event type" /> } : undefined
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
  const describe = `Describe ${name}`
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
        {isOwn && may('settings') && (
          <div class="row">
            <Opener label="Describe" title={describe}>
              <TypeForm title={describe} of={{ name, description }} />
            </Opener>
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

function TypeForm({ title, of }: { title: string; of?: EventTypeToCreate }) {
  const [values, set] = useState({ name: '', description: of?.description ?? '' })
  const { description } = values
  return (
    <SchemaForm
      title={title}
      send={of ? 'Save' : 'Create'}
      reads="event-types"
      schema={of ? updated : created}
      texts={{
        ...(!of && { name: { label: 'Name', maxLength: 64, placeholder: 'ORDER_SHIPPED' } }),
        description: { label: 'What it means', required: false },
      }}
      submit={() =>
        of ? api().eventTypes.update(of.name, { description }) : api().eventTypes.create(values)
      }
      {...{ values, set }}
    />
  )
}
