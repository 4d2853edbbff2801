/** `user:ada` is ada; a key, a person at the command line and the service have words. @param apiKey the name of a key, if it is known */
export function nameActor(
  actor: string,
  { apiKey }: { apiKey?: (id: string) => string | undefined } = {},
): string {
  const colon = actor.indexOf(':')
  const [kind, id] = [actor.slice(0, colon), actor.slice(colon + 1)]
  if (kind === 'user') return id
  if (kind === 'api_key') return `API key ${apiKey?.(id) ?? id}`
  if (kind === 'operator_key') return 'The operator'
  if (kind === 'embed') return `Embed session ${id}`
  if (kind === 'cli') return `${id} (command line)`
  if (actor === 'link') return 'Somebody with the link'
  return kind === 'system' ? 'The service' : actor
}
