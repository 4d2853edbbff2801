import { host } from '../state/host.js'

/** Tells the host how high the page is, so that the frame never scrolls by itself: a dialog that is open counts, too. */
export function sayHeight(): () => void {
  let said = 0
  const measure = () => {
    const parts = document.querySelectorAll('#app, dialog[open], :popover-open')
    const bottoms = [...parts].map((part) => part.getBoundingClientRect().bottom + scrollY)
    const px = Math.ceil(Math.max(...bottoms))
    if (px === said) return
    said = px
    host.say('height', { px })
  }
  const sizes = new ResizeObserver(measure)
  sizes.observe(document.getElementById('app') as HTMLElement)
  return () => sizes.disconnect()
}
