import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { commandOf, letterOf } from './logic/keys.js'
import { Dialog } from './parts/dialog.js'
import { places } from './places.js'
import { shortcuts } from './state/preferences.js'
import { undoNewest } from './state/toasts.js'
import { linkTo } from './state/use-filters.js'

export const isMac = /Mac|iPhone/.test(navigator.platform)

/** How long (ms) the second key of two may take. */
const togetherMs = 1_500

/** Ctrl K works everywhere; single keys only outside of fields, and not where they are switched off. */
export function useKeys(show: (dialog: 'palette' | 'keys') => void): void {
  const { route } = useLocation()
  useEffect(() => {
    let goesTo = -togetherMs
    const listen = (event: KeyboardEvent) => {
      const { target, ctrlKey, metaKey, altKey } = event
      const command = commandOf(event)
      if (command === 'k') {
        event.preventDefault()
        return show('palette')
      }
      const isTyping = target instanceof Element && target.closest('input, textarea, select') !== null
      if (command === 'z' && !event.shiftKey && !isTyping && undoNewest()) return event.preventDefault()
      // Also where the focus of a dialog has just been lost: closing what is below would take its text along.
      const isElsewhere =
        document.querySelector('dialog:modal') !== null ||
        (target instanceof Element && target.closest('[popover]') !== null)
      if (isElsewhere || ctrlKey || metaKey || altKey || event.defaultPrevented) return
      const key = letterOf(event)
      if (key === 'Escape') return leaveDetail()
      if (isTyping || shortcuts.value === 'off') return
      const isSecond = event.timeStamp - goesTo < togetherMs
      goesTo = key === 'g' ? event.timeStamp : -togetherMs
      const place = isSecond ? places.find((one) => one.key === key) : undefined
      if (place) return route(linkTo(place.screen))
      if (key === '?') return show('keys')
      if (key === 'j' || key === 'k') return moveInList(key === 'j' ? 1 : -1)
      if (key === '/') {
        event.preventDefault()
        document.querySelector<HTMLElement>('[data-filter]')?.focus()
      }
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

/** To the next row, or the one before. Enter opens it, as everywhere. A drawer follows. */
function moveInList(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('.rows tbody tr')].flatMap((row) => {
    const link = row.querySelector<HTMLElement>('a')
    return link ? [link] : []
  })
  const drawer = document.querySelector('.drawer')
  const at = links.findIndex((link) => {
    const row = link.closest('tr')
    return drawer ? row?.hasAttribute('aria-current') : row?.contains(document.activeElement)
  })
  const next = at < 0 ? links[0] : links[Math.min(Math.max(at + by, 0), links.length - 1)]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
  // Beside an open drawer a row is opened by going to it: no two rows are marked.
  if (drawer) next?.click()
}

/** Closes what stands beside a list, and goes back to its row. */
function leaveDetail(): void {
  const close = document.querySelector<HTMLElement>('[data-close]')
  const row = document.querySelector<HTMLElement>('.rows tr[aria-current] a')
  if (!close) return
  row?.focus()
  close.click()
}

const others: [keys: string[], what: string][] = [
  [[isMac ? '⌘ K' : 'Ctrl K'], 'search or run a command'],
  [[isMac ? '⌘ Enter' : 'Ctrl Enter'], 'save the rule'],
  [[isMac ? '⌘ Z' : 'Ctrl Z'], 'take back what a notice says'],
  [['Alt ↑', 'Alt ↓'], 'move a condition or an action'],
  [['j', 'k'], 'next row, previous row; Enter opens it'],
  [['Esc'], 'back from the details to the row'],
  [['/'], 'to the first filter'],
  [['?'], 'this list'],
]

export function KeysDialog({ close }: { close: () => void }) {
  const all = [...others, ...places.map(({ key, label }) => [['g', key], label] as const)]
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {all.map(([keys, what]) => [
          <dt key={`${what} keys`}>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>,
          <dd key={what}>{what}</dd>,
        ])}
      </dl>
      <p class="quiet">Single-key shortcuts can be switched off in the menu under your name.</p>
    </Dialog>
  )
}
