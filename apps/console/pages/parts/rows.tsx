import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { windowedFrom, windowRows } from '../logic/window-rows.js'
import type { Picked } from '../state/use-picked.js'

/**
 * A heading, or that of a column of numbers. One that is low is left out where there is little room; its cells have the class `low`.
 */
export type Column = string | { text: string; isLow: true } | { number: string; isLow?: boolean }

const rowHeight = 36

interface Props<Item> {
  items: Item[]
  label: string
  columns: readonly Column[]
  selectedId?: string | undefined
  row: (item: Item) => ComponentChildren
  /** Rows can be chosen, to do something with all of them. */
  picked?: Picked | undefined
}

/** A table of any length: of a long one, only the rows near the view are in the document. */
export function Rows<Item extends { id: string }>({
  items,
  label,
  columns,
  selectedId,
  row,
  picked,
}: Props<Item>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [view, setView] = useState({ top: 0, height: 1_000 })
  const isWindowed = items.length >= windowedFrom
  useLayoutEffect(() => {
    if (!isWindowed) return
    const measure = () => {
      const top = -(body.current?.getBoundingClientRect().top ?? 0)
      setView({ top: Math.max(0, top), height: innerHeight })
    }
    measure()
    addEventListener('scroll', measure, { passive: true })
    return () => removeEventListener('scroll', measure)
  }, [isWindowed])
  const width = columns.length + (picked ? 1 : 0)
  const { first, end } = windowRows(items.length, rowHeight, view)
  return (
    <table aria-label={label} aria-rowcount={items.length} class="rows">
      <thead>
        <tr>
          {picked && <PickAll items={items} picked={picked} />}
          {columns.map((column) => (
            <Heading key={typeof column === 'string' ? column : JSON.stringify(column)} column={column} />
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {first > 0 && <Space rows={first} columns={width} />}
        {items.slice(first, end).map((item, index) => (
          <tr
            key={item.id}
            aria-rowindex={first + index + 1}
            aria-current={item.id === selectedId ? 'true' : undefined}
          >
            {picked && (
              <td class="pick">
                <input
                  type="checkbox"
                  aria-label={`Choose row ${first + index + 1}`}
                  checked={picked.ids.has(item.id)}
                  onChange={({ currentTarget }) => picked.pick([item.id], currentTarget.checked)}
                />
              </td>
            )}
            {row(item)}
          </tr>
        ))}
        {end < items.length && <Space rows={items.length - end} columns={width} />}
      </tbody>
    </table>
  )
}

function PickAll({ items, picked }: { items: readonly { id: string }[]; picked: Picked }) {
  const count = items.filter(({ id }) => picked.ids.has(id)).length
  return (
    <th scope="col" class="pick">
      <input
        type="checkbox"
        aria-label="Choose all rows"
        checked={count === items.length}
        indeterminate={count > 0 && count < items.length}
        onChange={({ currentTarget }) =>
          picked.pick(
            items.map(({ id }) => id),
            currentTarget.checked,
          )
        }
      />
    </th>
  )
}

function Heading({ column }: { column: Column }) {
  if (typeof column === 'string') return <th scope="col">{column || <span class="hidden">Actions</span>}</th>
  const isNumber = 'number' in column
  return (
    <th scope="col" class={`${isNumber ? 'number' : ''} ${column.isLow ? 'low' : ''}`}>
      {isNumber ? column.number : column.text}
    </th>
  )
}

/** Presentational: its height stands for the rows that are not in the document. */
function Space({ rows, columns }: { rows: number; columns: number }) {
  const element = useRef<HTMLTableCellElement>(null)
  useLayoutEffect(() => {
    element.current?.style.setProperty('height', `${rows * rowHeight}px`)
  }, [rows])
  return (
    <tr>
      <td ref={element} colSpan={columns} class="space" />
    </tr>
  )
}
