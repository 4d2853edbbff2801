/**
 * The addresses of a text that somebody pastes: one a line, or with commas between them, or with semicolons, as Outlook writes them. A placeholder is never split. What is stored is not
 * read by this: there each text is one address.
 */
export function splitAddresses(text: string): string[] {
  const parts = text.match(/(?:\{\{[^{}]*\}\}|[^,;\n\r])+/g) ?? []
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
