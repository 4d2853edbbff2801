import { host } from '../state/host.js'

/** Tells the host how high the page is, so that the frame never scrolls by itself. */
export function sayHeight(): () => void {
  const sizes = new ResizeObserver(([entry]) => {
    const px = Math.ceil(entry?.borderBoxSize[0]?.blockSize ?? 0)
    if (px > 0) host.say('height', { px })
  })
  sizes.observe(document.getElementById('app') as HTMLElement)
  return () => sizes.disconnect()
}
