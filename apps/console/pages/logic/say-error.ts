/** An error of a config without the words of the engine: `to is empty: {{email}} is missing`. Any other stays as it is. */
export function sayError(error: string): string {
  return error.replace(/^config\.(\S+) (must have at least 1 character)?/, (_, field: string, isEmpty) =>
    isEmpty ? `${field} is empty` : `${field} `,
  )
}
