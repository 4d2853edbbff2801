import type { MenuItem } from '../../../parts/menu.js'
import { focusSoon, useEditing } from './editing.js'

interface Lines<Item> {
  items: readonly Item[]
  /** Of the list in the rule. */
  path: string
  write: (items: Item[]) => void
  /** What a notice calls an item that was removed. */
  nameOf: (item: Item) => string
  /** Where the focus goes in a line that was added. */
  firstPathOf: (item: Item, path: string) => string
}

/** What can be done with the lines of a list. Nothing needs a mouse. */
export function useLines<Item>({ items, path, write, nameOf, firstPathOf }: Lines<Item>) {
  const { removes } = useEditing()
  const pathOf = (index: number) => `${path}[${index}]`
  const move = (index: number, by: number) => {
    const moved = items[index]
    if (moved === undefined || index + by < 0 || index + by >= items.length) return
    const focused = document.activeElement?.closest('[data-path]')?.getAttribute('data-path')
    write(items.toSpliced(index, 1).toSpliced(index + by, 0, moved))
    // The focus goes with what was moved.
    const to = focused?.replace(pathOf(index), pathOf(index + by))
    if (to) focusSoon(to)
  }
  const add = (item: Item, at = items.length) => {
    write(items.toSpliced(at, 0, structuredClone(item)))
    focusSoon(firstPathOf(item, pathOf(at)))
  }
  return {
    pathOf,
    add,
    change: (index: number, item: Item) => write(items.with(index, item)),
    remove: (index: number) => {
      removes(nameOf(items[index] as Item))
      write(items.toSpliced(index, 1))
    },
    menuOf: (index: number): MenuItem[] => [
      ...(index > 0 ? [{ label: 'Move up', hint: 'Alt ↑', run: () => move(index, -1) }] : []),
      ...(index < items.length - 1 ? [{ label: 'Move down', hint: 'Alt ↓', run: () => move(index, 1) }] : []),
      { label: 'Duplicate', icon: 'copy', run: () => add(items[index] as Item, index + 1) },
    ],
    /** Alt and an arrow move the line that has the focus. */
    moveByKey: (index: number) => (event: KeyboardEvent) => {
      const by = event.altKey ? (steps[event.key] ?? 0) : 0
      if (by === 0) return
      event.preventDefault()
      event.stopPropagation()
      move(index, by)
    },
  }
}

const steps: Readonly<Record<string, -1 | 1>> = { ArrowUp: -1, ArrowDown: 1 }
