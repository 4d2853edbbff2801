import { createRandom } from './random.js'

/** What a client is about to send, as it follows from the seed. */
export interface PlannedEvent {
  /** Its own among all of the storm; in the data of the event, and of all that comes of it. */
  name: string
  workspace: number
  /** The route that accepts it: the trigger of its type, the batch route with one event, or the route of signed webhooks. */
  route: 'trigger' | 'batch' | 'webhook'
  type: string
  /** How many tags its data has. */
  tags: number
  /** The types of the events that it becomes. */
  becomes: string[]
  /** Sent under an Idempotency-Key, as each webhook is: only then it may be sent again. */
  isKeyed: boolean
  /** Waits for the outcome. */
  isSync: boolean
  /** The same once more, `afterMs` later. */
  copy: { isToOtherApi: boolean; afterMs: number } | undefined
}

export const workspaceCount = 4

const kinds = [
  ...times(6, 'LEAD_CREATED'),
  ...times(4, 'DEAL_WON'),
  ...times(2, 'LEAD_UPDATED'),
  ...times(3, 'DEAL_CREATED'),
  ...times(5, 'CONTACT_CREATED'),
]
/** Of the events that nobody waits for. */
const batchShare = 0.2
/** Of all that have a key; so that of all calls a fifth is a repeat. */
const copiedShare = 0.35
const soonMs = 3_000
const usualTags = 7
/** Of the events whose rule emits one for each tag. */
const longShare = 0.04

/** @param longest how many tags the longest lists have */
export function planEvent(seed: number, index: number, longest: number): PlannedEvent {
  const random = createRandom(seed, index)
  const type = random.pick(kinds)
  const isWebhook = type === 'CONTACT_CREATED'
  const isKeyed = isWebhook || random.chance(0.6)
  const isCopied = isKeyed && random.chance(copiedShare)
  const isSync = !isWebhook && random.chance(0.4)
  const isBatch = !isWebhook && !isSync && random.chance(batchShare)
  return {
    name: `event-${index}`,
    workspace: random.between(0, workspaceCount - 1),
    route: isWebhook ? 'webhook' : isBatch ? 'batch' : 'trigger',
    type,
    becomes: isWebhook ? ['WEBHOOK_RECEIVED', type] : [type],
    isKeyed,
    isSync,
    copy: isCopied
      ? { isToOtherApi: random.chance(0.6), afterMs: random.chance(0.3) ? 0 : random.between(1, soonMs) }
      : undefined,
    tags: type === 'DEAL_CREATED' && random.chance(longShare) ? longest : usualTags,
  }
}

function times(count: number, type: string): string[] {
  return Array.from({ length: count }, () => type)
}
