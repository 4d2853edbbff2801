import { useLocation } from 'preact-iso'
import { writeQuery } from '../logic/filters.js'
import { frame, isGranted } from './frame.js'
import { workspaceId } from './session.js'

/** The filters of a screen. They are in the address, so a link and the back button restore them. */
export function useFilters() {
  const { path, query, route } = useLocation()
  return {
    query: query as Record<string, string | undefined>,
    /** @param changes an empty value removes a filter */
    set(changes: Record<string, string | undefined>, { replaces = false } = {}) {
      route(`${path}${writeQuery({ ...query, ...changes })}`, replaces)
    },
  }
}

/** Under which the addresses of all screens are. */
export function base(): string {
  return inFrame ? `/embed/${frame.value?.id}` : `/w/${workspaceId.value}`
}

/** The address of a screen of the shown workspace. In a frame: undefined for a page that its session has not, so that an `a` is a text and no link. */
export function linkTo(screen: string, query: Record<string, string | undefined> = {}): string {
  if (inFrame && !isGranted(screen)) return undefined as never
  return `${base()}/${screen}${writeQuery(query)}`
}
