/** Escapes % and _ in a text for LIKE, and for Prisma's `contains`, which passes its text to LIKE unchanged. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
