import type { ComponentChildren } from 'preact'
import { Icon } from '../../../parts/icon.js'
import { Menu, type MenuItem } from '../../../parts/menu.js'

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
      <button type="button" class="plain icon-button small" aria-label={`Remove ${name}`} onClick={remove}>
        <Icon name="close" />
      </button>
    </span>
  )
}
