/** Shorter ones, such as `api`, are everywhere. */
const leastLength = 8
/** The search for each of them takes its time. */
const maxParts = 16

/**
 * What must not be seen of a credential that is a text. Where it is a URL, its path is often the secret: a receiver repeats the path alone, or
 * leads to the same path of another host.
 */
export function listParts(value: string): string[] {
  if (!/^https?:/i.test(value.trim()) || !URL.canParse(value)) return [value]
  const { href, pathname, search, searchParams } = new URL(value)
  const segments = pathname.split('/').filter(({ length }) => length >= leastLength)
  const parts = [pathname.slice(1), ...segments, ...segments.map(decode), ...searchParams.values()]
  const distinct = [...new Set(parts)].sort((one, other) => other.length - one.length)
  return [value, href, pathname + search, ...distinct.slice(0, maxParts)]
}

/** As a receiver shows it that has decoded the path. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
