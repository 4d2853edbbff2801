/** One address, or several: in the form they stand in lines of their own, since a comma may be part of what somebody writes. */
export function writeAddressLines(addresses: unknown): string {
  return Array.isArray(addresses) ? addresses.map(String).join('\n') : String(addresses ?? '')
}

/** One line is one address, as most mails have it. */
export function readAddressLines(text: string): string | string[] {
  const lines = text.split('\n')
  return lines.length === 1 ? text : lines
}
