/**
 * The path and query that the API gets.
 *
 * @param rawUrl as the browser sent it
 * @param root the path that it must not leave, such as `/api/`
 * @returns 'malformed' where an escape of the path cannot be decoded; 'foreign' where the path leads out of the root, however it is
 * written: another program on the way to the API may decode it once more
 */
export function readApiPath(
  rawUrl: string,
  root: string,
): { path: string; query: string } | 'malformed' | 'foreign' {
  const end = rawUrl.indexOf('?')
  const path = end < 0 ? rawUrl : rawUrl.slice(0, end)
  // The API checks the query.
  const query = end < 0 ? '' : rawUrl.slice(end)
  try {
    const segments = decodeURIComponent(path).split(/[/\\]/)
    const leadsOut = segments.some((segment) => /^\.\.?$/.test(segment))
    return path.startsWith(root) && !leadsOut ? { path, query } : 'foreign'
  } catch {
    return 'malformed'
  }
}
