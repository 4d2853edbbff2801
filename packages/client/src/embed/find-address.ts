/**
 * The address of a page within a session: its path comes from the host's own address, perhaps, so it never leaves the session's.
 *
 * @param src `<console>/embed/<id>#<secret>`
 * @returns undefined if src is no such url
 */
export function findAddress(src: string, path: string): URL | undefined {
  if (!URL.canParse(src, document.baseURI)) return undefined
  const session = new URL(src, document.baseURI)
  if (!/^https?:$/.test(session.protocol)) return undefined
  const inside = `${session.pathname}/`
  if (path === '' || !URL.canParse(inside + path, session)) return session
  const page = new URL(inside + path, session)
  page.hash = session.hash
  return page.origin === session.origin && page.pathname.startsWith(inside) ? page : session
}
