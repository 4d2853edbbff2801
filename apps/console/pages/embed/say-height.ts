import { host } from '../state/host.js'

/** Around a dialog. */
const margin = 48

/** Tells the host how high the page is, with a dialog that is open over it: so the frame scrolls only where the host has no room for it. */
export function sayHeight(): () => void {
  const app = document.getElementById('app') as HTMLElement
  let said = 0
  const measure = () => {
    const dialogs = [...document.querySelectorAll('dialog[open]')]
    const px = Math.max(
      Math.ceil(app.getBoundingClientRect().height),
      ...dialogs.map((dialog) => dialog.scrollHeight + margin),
    )
    if (px > 0 && px !== said) host.say('height', { px })
    said = px
  }
  const sizes = new ResizeObserver(measure)
  sizes.observe(app)
  // A dialog is no part of the page's size, nor what is in it of its own, once that is as high as the frame.
  const toggled = ({ target }: Event) => {
    if (target instanceof HTMLDialogElement && target.open)
      for (const part of target.children) sizes.observe(part)
    measure()
  }
  addEventListener('toggle', toggled, true)
  return () => {
    sizes.disconnect()
    removeEventListener('toggle', toggled, true)
  }
}
