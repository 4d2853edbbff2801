import { useLocation } from 'preact-iso'
import { writeQuery } from '../logic/filters.js'
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

/** The address of a screen of the shown workspace. */
export function linkTo(screen: string, query: Record<string, string | undefined> = {}): string {
  return `/w/${workspaceId.value}/${screen}${writeQuery(query)}`
}
