import { Icon } from './icon.js'

/** Removes a part of what is edited, such as `action 2`. */
export function RemoveButton({ what, remove }: { what: string; remove: () => void }) {
  return (
    <button type="button" class="plain icon-button small" aria-label={`Remove ${what}`} onClick={remove}>
      <Icon name="close" />
    </button>
  )
}
