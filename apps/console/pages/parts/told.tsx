import { type Excerpt, listTold } from '../logic/history/choose-telling.js'
import { showControls } from '../logic/show.js'

/** Of the data of an event: what tells it from the others. */
export function Told({
  excerpt,
  fields,
}: {
  excerpt: Excerpt | undefined
  fields: readonly string[] | undefined
}) {
  return (
    <span class="telling">
      {listTold(excerpt, fields).map(({ label, value }) => (
        <span key={label + value}>
          {label && <span class="quiet">{showControls(label)} </span>}
          {showControls(value)}
        </span>
      ))}
    </span>
  )
}
