import type { ComponentChildren } from 'preact'

interface Props<Item> {
  /** Of the list; its options have `<id>-<index>`. */
  id: string
  label: string
  items: readonly Item[]
  chosen: number
  isHidden?: boolean
  choose: (item: Item) => void
  children: (item: Item) => ComponentChildren
}

/** The listbox of a combobox. The field above has the focus, handles the keys, and names the chosen option. */
export function Choices<Item>({ id, label, items, chosen, isHidden = false, choose, children }: Props<Item>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the pattern of ARIA for comboboxes, on a list
    <ul id={id} role="listbox" aria-label={label} class="choices" hidden={isHidden}>
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus, and points here by aria-activedescendant
        <li
          key={index}
          id={`${id}-${index}`}
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: an option of the listbox
          role="option"
          aria-selected={index === chosen}
          onPointerDown={(event) => {
            event.preventDefault()
            choose(item)
          }}
        >
          {children(item)}
        </li>
      ))}
    </ul>
  )
}
