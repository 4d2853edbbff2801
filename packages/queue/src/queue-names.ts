/**
 * The prefix of the keys of a queue. That of the first one is QUEUE_PREFIX itself, and each other one has a hash tag of its own, so that Redis Cluster
 * keeps it in a slot of its own. QUEUE_PREFIX has no colon: no other service has this prefix.
 *
 *   {automation} ─▶ {automation}, {automation:1}, {automation:2} …
 */
export function prefixOf(prefix: string, index: number): string {
  if (index === 0) return prefix
  const own = prefix.replace(/\{([^}]+)\}/, (_, tag) => `{${tag}:${index}}`)
  return own === prefix ? `${prefix}:${index}` : own
}

/** @returns which of so many queues a workspace belongs to. The end of its id is random. */
export function queueOf(workspaceId: string, queues: number): number {
  return queues === 1 ? 0 : Number.parseInt(workspaceId.slice(-8), 16) % queues
}
