import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { windowedFrom, windowRows } from '../logic/window-rows.js'

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
}

/** A table of any length: of a long one, only the rows near the view are in the document. */
export function Rows<Item extends { id: string }>({ items, label, columns, selectedId, row }: Props<Item>) {
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
  const { first, end } = windowRows(items.length, rowHeight, view)
  return (
    <table aria-label={label} aria-rowcount={items.length} class="rows">
      <thead>
        <tr>
          {columns.map((column) => (
            <Heading key={typeof column === 'string' ? column : JSON.stringify(column)} column={column} />
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {first > 0 && <Space rows={first} columns={columns.length} />}
        {items.slice(first, end).map((item, index) => (
          <tr
            key={item.id}
            aria-rowindex={first + index + 1}
            aria-current={item.id === selectedId ? 'true' : undefined}
          >
            {row(item)}
          </tr>
        ))}
        {end < items.length && <Space rows={items.length - end} columns={columns.length} />}
      </tbody>
    </table>
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
