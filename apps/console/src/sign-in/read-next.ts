/** Where a user wanted to go: a path of this console, or the first page for anything else. */
export function readNext(next: unknown): string {
  // Printable ASCII without a backslash, which browsers read as a slash.
  if (typeof next !== 'string' || !/^\/(w\/[!-[\]-~]*)?$/.test(next)) return '/'
  const base = 'http://console.invalid'
  const url = URL.canParse(next, base) ? new URL(next, base) : undefined
  return url?.origin === base && url.pathname.startsWith('/w/') ? url.pathname + url.search : '/'
}
