import { useState } from 'preact/hooks'

/** Slices of a chart next to each other. */
export interface Slices {
  first: number
  last: number
}

interface Options {
  /** How many slices the chart has. */
  count: number
  /** undefined: nothing can be chosen. */
  choose: ((slices: Slices) => void) | undefined
  /** Where the pointer is; undefined: it has left. */
  point?: (index: number | undefined) => void
}

type At = { clientX: number; currentTarget: Element }

/** A drag over a chart chooses slices, a click one of them. */
export function useBrush({ count, choose, point }: Options) {
  const [drag, setDrag] = useState<Slices>()
  const marked = drag && { first: Math.min(drag.first, drag.last), last: Math.max(drag.first, drag.last) }
  const find = ({ clientX, currentTarget }: At) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)))
  }
  return {
    /** What the drag covers, while it lasts. */
    marked,
    handlers: {
      onPointerDown: (event: At & { button: number }) => {
        const index = find(event)
        if (choose && event.button === 0) setDrag({ first: index, last: index })
      },
      onPointerMove: (event: At) => {
        const index = find(event)
        point?.(index)
        if (drag) setDrag({ ...drag, last: index })
      },
      onPointerLeave: () => {
        point?.(undefined)
        setDrag(undefined)
      },
      onPointerUp: () => {
        if (marked) choose?.(marked)
        setDrag(undefined)
      },
    },
  }
}
