import type { ComponentChildren } from 'preact'
import { Menu, type MenuItem } from '../../../parts/menu.js'
import { RemoveButton } from '../../../parts/remove-button.js'

interface Props {
  /** What stands in the line: "action 2". */
  name: string
  menu: MenuItem[]
  remove: () => void
  children?: ComponentChildren
}

/** The end of a line: what can be done with it. */
export function LineEnd({ name, menu, remove, children }: Props) {
  return (
    <span class="line-end">
      {children}
      <Menu label={`More for ${name}`} look="plain icon-button small" items={menu} />
      <RemoveButton what={name} remove={remove} />
    </span>
  )
}
