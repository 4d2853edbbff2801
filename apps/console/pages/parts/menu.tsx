import type { ComponentChildren } from 'preact'
import type { IconName } from '../logic/icon-names.js'
import { letterOf } from '../logic/keys.js'
import { Icon } from './icon.js'
import { usePopover } from './popover.js'

/** What a menu offers: something to do, or somewhere to go. */
export interface MenuItem {
  label: string
  icon?: IconName
  /** At its end: a key, a count. */
  hint?: ComponentChildren
  run?: () => void
  href?: string
  /** It removes something. Such items come last, below a line. */
  isDanger?: boolean
}

interface Props {
  /** Names the menu and, if the button has no words, the button: "More for Hot leads". */
  label: string
  items: readonly MenuItem[]
  /** Of the button. Without it: an icon, usually three dots. */
  children?: ComponentChildren
  icon?: IconName
  look?: string
  edge?: 'start' | 'end'
}

/** A list of commands at its button (the menu button of the ARIA practices): arrows, Home, End and first letters move, Escape closes. */
export function Menu({
  label,
  items,
  children,
  icon = 'more',
  look = 'plain icon-button',
  edge = 'end',
}: Props) {
  const { id, element, isOpen, note, close } = usePopover('[role="menuitem"]')
  const firstDanger = items.findIndex(({ isDanger }) => isDanger)
  return (
    <>
      <button
        type="button"
        class={look}
        popovertarget={id}
        aria-label={children ? undefined : label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
      >
        {children || <Icon name={icon} />}
      </button>
      <div
        ref={element}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        class={`menu ${edge}`}
        onToggle={note}
        onKeyDown={(event) => move(event, element.current)}
      >
        {isOpen &&
          items.map((item, index) => [
            index === firstDanger && index > 0 && <hr key="line" />,
            <Item key={item.label} {...item} close={close} />,
          ])}
      </div>
    </>
  )
}

function Item({ label, icon, hint, run, href, isDanger, close }: MenuItem & { close: () => void }) {
  const shared = { role: 'menuitem', tabIndex: -1, class: isDanger ? 'danger' : '' } as const
  const content = (
    <>
      {icon && <Icon name={icon} />}
      {label}
      {hint !== undefined && <span class="hint">{hint}</span>}
    </>
  )
  const choose = () => {
    close()
    run?.()
  }
  return href === undefined ? (
    <button type="button" {...shared} onClick={choose}>
      {content}
    </button>
  ) : (
    <a href={href} {...shared} class={`button ${shared.class}`} onClick={choose}>
      {content}
    </a>
  )
}

function move(event: KeyboardEvent, menu: HTMLElement | null): void {
  const items = [...(menu?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const { key } = event
  const target =
    key === 'ArrowDown'
      ? items[(at + 1) % items.length]
      : key === 'ArrowUp'
        ? items.at(at <= 0 ? -1 : at - 1)
        : key === 'Home'
          ? items[0]
          : key === 'End'
            ? items.at(-1)
            : key.length === 1 && !event.ctrlKey && !event.metaKey
              ? findByLetter(items, at, letterOf(event))
              : undefined
  if (target === undefined) return
  event.preventDefault()
  event.stopPropagation()
  target.focus()
}

function findByLetter(items: HTMLElement[], at: number, letter: string): HTMLElement | undefined {
  const after = [...items.slice(at + 1), ...items.slice(0, at + 1)]
  return after.find((item) => item.textContent?.trim().toLowerCase().startsWith(letter.toLowerCase()))
}
