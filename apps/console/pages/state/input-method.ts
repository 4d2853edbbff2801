import { isOfInputMethod } from '../logic/keys.js'

/** Whether the key that is held down belongs to an input method. */
let isItsKey = false

/**
 * While an input method composes (Japanese, Chinese, accents), no key means anything to the page: no handler hears of it. What a browser does
 * at Enter and Escape, to send a form and to close a dialog, is taken back.
 */
export function leaveKeysToInputMethods(): void {
  const options = { capture: true }
  addEventListener(
    'keydown',
    (event) => {
      isItsKey = isOfInputMethod(event)
      if (isItsKey) event.stopImmediatePropagation()
    },
    options,
  )
  for (const type of ['keyup', 'pointerdown'])
    addEventListener(
      type,
      () => {
        isItsKey = false
      },
      options,
    )
  for (const type of ['submit', 'cancel'])
    addEventListener(
      type,
      (event) => {
        if (!isItsKey) return
        event.preventDefault()
        event.stopImmediatePropagation()
      },
      options,
    )
}
