import type { ColorScheme } from './messages.js'

const darkness = '(prefers-color-scheme: dark)'

/** @returns undefined if the page leaves it to the session */
export function readColorScheme(element: Element): ColorScheme | undefined {
  const wanted = element.getAttribute('color-scheme')
  if (wanted === 'light' || wanted === 'dark') return wanted
  if (wanted !== 'auto') return undefined
  const { colorScheme } = getComputedStyle(element)
  const isDark =
    colorScheme.includes('dark') && (!colorScheme.includes('light') || matchMedia(darkness).matches)
  return isDark ? 'dark' : 'light'
}

/** Calls whenever it may be another one: the person's system changes, or the page sets a class or an attribute. */
export function watchColorScheme(changed: () => void, signal: AbortSignal): void {
  matchMedia(darkness).addEventListener('change', changed, { signal })
  const observer = new MutationObserver(changed)
  for (const element of [document.documentElement, document.body])
    observer.observe(element, { attributes: true })
  signal.addEventListener('abort', () => observer.disconnect())
}
