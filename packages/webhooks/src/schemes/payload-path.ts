/** A path of settings as the engine reads it: event data is never a list, but the payload of a webhook may be one, such as `[0].eventId`. */
export function payloadPath(path: string): string {
  return path.replace(/^\[(\d+)\]/, '$1')
}
