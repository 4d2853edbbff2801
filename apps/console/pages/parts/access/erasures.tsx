import '../../styles/history.css'
import type { Erasure } from '@automation/client'
import { listErased, sayErased } from '../../logic/describe-erasure.js'
import { nameActor } from '../../logic/name-actor.js'
import { api, me, workspace } from '../../state/session.js'
import { linkTo, useFilters } from '../../state/use-filters.js'
import { useList } from '../../state/use-list.js'
import { readAgain, useQuery } from '../../state/use-query.js'
import { DetailHead } from '../detail-head.js'
import { History } from '../history.js'
import { Mark } from '../mark.js'
import { Opener } from '../opener.js'
import { Empty, Unread } from '../states.js'
import { When } from '../when.js'
import { EraseForm } from './erase-form.js'

/** Which values of persons were erased, how far that is, and a new one. */
export function Erasures() {
  const { query, set } = useFilters()
  const { id } = query
  const list = useList<Erasure>(
    ['erasures'],
    async (cursor) => {
      const { data, nextCursor = null } = await api().developer.erasures.list({
        limit: 50,
        ...(cursor !== undefined && { cursor }),
      })
      return { rows: data, nextCursor }
    },
    id,
  )
  return (
    <>
      <EraseButton look="primary" />
      <History
        list={list}
        what="erasures"
        columns={['Path', 'State', 'Erased', 'By', 'When']}
        selectedId={id}
        empty={
          <Empty title="Nothing was erased">
            <p>
              An erasure replaces one value of a person, such as an email address, in the events that have it,
              and in what was made of them.
            </p>
          </Empty>
        }
        row={({ id, path, status, erased, createdBy, createdAt }) => (
          <>
            <th scope="row" class="short">
              <a href={linkTo('access', { tab: 'erasures', id })}>{path}</a>
            </th>
            <td data-label="State" class="beside">
              <Mark of={status} />
            </td>
            <td data-label="Erased" class="line">
              {sayErased(erased)}
            </td>
            <td data-label="By" class="named cut">
              {nameActor(createdBy)}
            </td>
            <td data-label="When" class="at">
              <When at={createdAt} />
            </td>
          </>
        )}
        detail={id && <ErasureDetail id={id} key={id} close={() => set({ id: '' })} />}
      />
    </>
  )
}

/** Who may not erase sees why. */
function EraseButton({ look, path }: { look?: string; path?: string }) {
  if (me.value?.userId === null)
    return <p class="quiet">Only a person who is an admin can erase: you are signed in with an API key.</p>
  if (workspace.value?.suspendedAt)
    return <p class="quiet">A suspended workspace starts no erasure: resume it first.</p>
  return (
    <p class="row">
      <Opener label={path === undefined ? 'Erase a person…' : 'Erase again…'} look={look ?? ''}>
        <EraseForm path={path ?? ''} />
      </Opener>
    </p>
  )
}

/** One erasure: how far it is, what was erased, and what is left to do. */
function ErasureDetail({ id, close }: { id: string; close: () => void }) {
  const found = useQuery<Erasure>({
    key: ['erasures', id],
    read: async () => {
      const erasure = await api().developer.erasures.get(id)
      // Its row says the same.
      if (erasure.status !== 'running') void readAgain('erasures', 'pages')
      return erasure
    },
    pollMs: (erasure, reads) =>
      erasure?.status === 'running' ? Math.min(1_000 * 2 ** reads, 10_000) : false,
  })
  if (!found.data)
    return (
      <>
        <DetailHead title="Erasure" what="the erasure" close={close} />
        <Unread {...found} what="the erasure" />
      </>
    )
  const { path, status, erased, createdBy, createdAt, finishedAt } = found.data
  const kinds = listErased(erased)
  return (
    <>
      <DetailHead title={`Erasure at ${path}`} what="the erasure" close={close} />
      <p>
        <Mark of={status} /> · by {nameActor(createdBy)}, <When at={createdAt} />
        {finishedAt !== null && (
          <>
            , ended <When at={finishedAt} />
          </>
        )}
      </p>
      {status === 'running' && <progress aria-label="Progress" />}
      <p role="status">{sayState(found.data)}</p>
      {(status === 'incomplete' || status === 'failed') && <EraseButton path={path} />}
      <h3>{status === 'running' ? 'Erased so far' : 'Erased'}</h3>
      {kinds.length === 0 ? (
        <p class="quiet">{status === 'running' ? 'Nothing yet' : 'Nothing had the value'}</p>
      ) : (
        <ul>
          {kinds.map((kind) => (
            <li key={kind}>{kind}</li>
          ))}
        </ul>
      )}
      <p class="quiet id">{id}</p>
    </>
  )
}

function sayState({ status, unfinished }: Erasure): string {
  if (status === 'running') return 'A worker erases step by step. It goes on if you leave this page.'
  if (status === 'done') return 'All of it is erased.'
  if (status === 'failed')
    return 'It was given up, and some of it may be left. The log of the worker has its id. Erase the value again.'
  const left = unfinished === 1 ? '1 event was left' : `${unfinished} events were left`
  return `${left}, because something of it had not ended. Erase the same value again: the page then says what to cancel first.`
}
