import { useEffect, useState } from 'preact/hooks'
import { dropToast, type Toast, takeBack, toasts } from '../state/toasts.js'
import { Icon } from './icon.js'

const shownMs = 8_000

/** Where toasts appear: once, in the shell. The region is there before its first toast, or nobody would hear it. */
export function Toasts() {
  return (
    <section class="toasts" role="status" aria-label="Notices">
      {toasts.value.map((one) => (
        <Shown key={one.id} {...one} />
      ))}
    </section>
  )
}

function Shown(one: Toast) {
  const [isHeld, hold] = useState(false)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => dropToast(one.id), shownMs)
    return () => clearTimeout(timer)
  }, [isHeld])
  return (
    <div
      class="toast"
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      {one.text}
      {one.undo && (
        <button type="button" onClick={() => takeBack(one)}>
          <Icon name="undo" /> Undo
        </button>
      )}
      <button
        type="button"
        class="icon-button"
        aria-label="Close the notice"
        onClick={() => dropToast(one.id)}
      >
        <Icon name="close" />
      </button>
    </div>
  )
}
