import type { ComponentChildren } from 'preact'
import { rowsOf, useQuery } from '../state/use-query.js'
import { Opener } from './opener.js'
import { type Column, Rows } from './rows.js'
import { Empty, Unread } from './states.js'

interface Props<Item extends { id: string }> {
  /** Names what is read: it is read again after each change. */
  queryKey: string
  /** In "Loading …" and as the name of the table. */
  what: string
  read: () => PromiseLike<readonly Item[]>
  columns: readonly Column[]
  row: (item: Item) => ComponentChildren
  empty: { title: string; text: ComponentChildren }
  /** undefined: the user may not add one. */
  add?: { label: string; form: ComponentChildren } | undefined
  /** Another button, for another way to add one. */
  addOtherwise?: ComponentChildren
  selectedId?: string | undefined
}

/** A short list that people change: all of it at once, with a button that adds to it. */
export function AdminList<Item extends { id: string }>({
  queryKey,
  what,
  read,
  columns,
  row,
  empty,
  add,
  addOtherwise,
  selectedId,
}: Props<Item>) {
  const found = useQuery({ key: rowsOf(queryKey), read, pollMs: false })
  if (!found.data) return <Unread {...found} what={what} rows={3} />
  const all = found.data
  return (
    <>
      {add && (
        <p class="row">
          <Opener label={add.label} look="primary">
            {add.form}
          </Opener>
          {addOtherwise}
        </p>
      )}
      {all.length === 0 ? (
        <Empty title={empty.title}>
          <p>{empty.text}</p>
        </Empty>
      ) : (
        <Rows items={[...all]} label={what} columns={columns} selectedId={selectedId} row={row} />
      )}
    </>
  )
}
