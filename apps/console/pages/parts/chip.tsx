import type { ComponentChildren } from 'preact'
import type { IconName } from '../logic/icon-names.js'
import { Icon } from './icon.js'

interface Props {
  children: ComponentChildren
  /** How it looks: a field of the data, a value, something that is still to be filled in, something wrong. */
  kind?: 'field' | 'value' | 'empty' | 'faulty' | undefined
  icon?: IconName | undefined
  /** It can be pressed. A chip that opens something is made by Popover or Menu, with `look="chip"`. */
  press?: (() => void) | undefined
  isPressed?: boolean | undefined
  /** It can be removed. */
  remove?: { label: string; run: () => void } | undefined
}

/** A word of a sentence, or a filter. */
export function Chip({ children, kind, icon, press, isPressed, remove }: Props) {
  const content = (
    <>
      {icon && <Icon name={icon} />}
      <span class="cut">{children}</span>
    </>
  )
  return (
    <span class={`chip ${kind ? `${kind}-chip` : ''}`}>
      {press ? (
        <button type="button" aria-pressed={isPressed} onClick={press}>
          {content}
        </button>
      ) : (
        <span class="chip-text row">{content}</span>
      )}
      {remove && (
        <button type="button" class="chip-remove" aria-label={remove.label} onClick={remove.run}>
          <Icon name="close" />
        </button>
      )}
    </span>
  )
}
