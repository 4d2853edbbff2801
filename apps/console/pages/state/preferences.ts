import { effect, signal } from '@preact/signals'
import type { Zone } from '../logic/format-time.js'
import { kept as browser } from './browser-store.js'

/** What a user chose for this browser. */
function keep<Value extends string>(name: string, usual: Value, allowed: readonly Value[]) {
  const stored = browser.get(name) as Value | null
  const kept = signal<Value>(stored !== null && allowed.includes(stored) ? stored : usual)
  effect(() => void browser.set(name, kept.value))
  return kept
}

export const zone = keep<Zone>('zone', 'local', ['local', 'UTC'])
export const theme = keep<'system' | 'light' | 'dark'>('theme', 'system', ['system', 'light', 'dark'])
/** Shortcuts of one key (WCAG 2.1.4: they can be switched off). */
export const shortcuts = keep<'on' | 'off'>('shortcuts', 'on', ['on', 'off'])
/** WCAG 2.2.2: what updates by itself can be paused. */
export const updates = keep<'on' | 'off'>('updates', 'on', ['on', 'off'])

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
})
