import { show, showControls } from './show.js'

/** Something by which a person knows an event again. */
export function nameEvent(data: object): string {
  const { name, email, title, id } = data as Record<string, unknown>
  const value = name ?? email ?? title ?? id
  return showControls(value === undefined ? show(data) : String(value))
}
