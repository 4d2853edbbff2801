/** The rows of a long list that are in the document. */
export interface RowWindow {
  first: number
  /** Exclusive. */
  end: number
}

/** Below this number all rows are in the document, so that the browser's own search finds them. */
export const windowedFrom = 500
const aheadRows = 10

/** @param view where the list is scrolled to, and how much of it is seen, in pixels */
export function windowRows(
  count: number,
  rowHeight: number,
  view: { top: number; height: number },
): RowWindow {
  if (count < windowedFrom) return { first: 0, end: count }
  const first = Math.floor(view.top / rowHeight) - aheadRows
  const end = Math.ceil((view.top + view.height) / rowHeight) + aheadRows
  return { first: Math.min(Math.max(first, 0), count), end: Math.min(Math.max(end, 0), count) }
}
