/**
 * The field of the page that a fault of the API is about: the one with its path, or the nearest above it.
 *
 * @param fault such as `actions[1].config.to`
 * @param fields the paths of the fields of the page
 */
export function fieldOfFault(fault: string, fields: readonly string[]): string | undefined {
  let best: string | undefined
  for (const field of fields) {
    const isAbove = fault === field || fault.startsWith(`${field}.`) || fault.startsWith(`${field}[`)
    if (isAbove && field.length > (best?.length ?? -1)) best = field
  }
  return best
}
