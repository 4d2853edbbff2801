/** The style of all messages: a sentence about its field, without a period at its end. */
export function capitalize(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}

/** A message behind the name of its field, in one sentence. */
export function uncapitalize(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
