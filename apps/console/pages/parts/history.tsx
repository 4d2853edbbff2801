import type { ComponentChildren } from 'preact'
import type { useList } from '../state/use-list.js'
import type { Picked } from '../state/use-picked.js'
import { Newer, Older } from './list-controls.js'
import { type Column, Rows } from './rows.js'
import { Split } from './screen.js'
import { ReadState } from './states.js'

interface Props<Item extends { id: string }> {
  list: ReturnType<typeof useList<Item>>
  /** In "Loading …" and as the name of the table. */
  what: string
  columns: readonly Column[]
  row: (item: Item) => ComponentChildren
  /** Shown where nothing is. */
  empty: ComponentChildren
  selectedId?: string | undefined
  detail?: ComponentChildren
  picked?: Picked | undefined
}

/** A list of history in every state that it can be in, and beside it what is selected. */
export function History<Item extends { id: string }>({
  list,
  what,
  columns,
  row,
  empty,
  selectedId,
  detail,
  picked,
}: Props<Item>) {
  const { first, rows } = list
  return (
    <>
      <Newer {...list} what={what} />
      <ReadState {...first} what={what} rows={6} />
      <Split
        list={
          first.data && (
            <>
              {rows.length === 0 ? (
                empty
              ) : (
                <Rows items={rows} label={what} {...{ columns, selectedId, row, picked }} />
              )}
              {(rows.length > 0 || list.hasOlder) && <Older {...list} />}
            </>
          )
        }
        detail={detail}
      />
    </>
  )
}
