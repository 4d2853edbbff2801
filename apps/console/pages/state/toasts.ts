import { signal } from '@preact/signals'

export interface Toast {
  id: number
  text: string
  /** Takes back what happened. */
  undo?: () => unknown
}

export const toasts = signal<readonly Toast[]>([])

/** Older ones make room. */
const mostShown = 3
let lastId = 0

/**
 * Says what just happened, where everybody sees it and nothing moves. It goes by itself after some seconds, but never while somebody is
 * on it. Ctrl Z takes back the newest one, outside of fields.
 *
 *   toast('The condition is removed', { undo: () => change(before) })
 *   toast(`${name} is off`, { undo: () => api().rules.toggle(id, { ifVersion }) })
 */
export function toast(text: string, { undo }: { undo?: () => unknown } = {}): void {
  const added: Toast = { id: ++lastId, text, ...(undo && { undo }) }
  toasts.value = [...toasts.value, added].slice(-mostShown)
}

export function dropToast(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}

/** @returns false: there is nothing to take back */
export function undoNewest(): boolean {
  const newest = toasts.value.findLast(({ undo }) => undo)
  if (newest) takeBack(newest)
  return newest !== undefined
}

export function takeBack({ id, undo }: Toast): void {
  dropToast(id)
  undo?.()
}
