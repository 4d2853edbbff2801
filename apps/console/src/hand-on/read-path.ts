/**
 * The path and query that the API gets.
 *
 * @param rawUrl as the browser sent it
 * @returns 'malformed' where an escape of the path cannot be decoded; 'foreign' where the path leads out of `/api/`, however it is
 * written: another program on the way to the API may decode it once more
 */
export function readApiPath(rawUrl: string): { path: string; query: string } | 'malformed' | 'foreign' {
  const end = rawUrl.indexOf('?')
  const path = end < 0 ? rawUrl : rawUrl.slice(0, end)
  // The API checks the query.
  const query = end < 0 ? '' : rawUrl.slice(end)
  try {
    const segments = decodeURIComponent(path).split(/[/\\]/)
    const leadsOut = segments.some((segment) => /^\.\.?$/.test(segment))
    return path.startsWith('/api/') && !leadsOut ? { path, query } : 'foreign'
  } catch {
    return 'malformed'
  }
}
