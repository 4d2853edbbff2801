/** Escapes a text for LIKE, and for Prisma's `contains`, which passes it to LIKE unchanged: % and _ are ordinary characters then. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
