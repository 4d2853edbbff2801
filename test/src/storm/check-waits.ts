/** What is stored in the end, as far as it is looked at. */
export interface WaitTables {
  events: { id: string; type: string; acceptedAt: Date; data: { race: number; until?: string; n?: number } }[]
  executions: {
    id: string
    eventId: string
    status: string
    results: { action: string; status: string; ended?: string; endedBy?: { eventId: string } }[]
  }[]
  tasks: { executionId: string; title: string }[]
}

type StoredEvent = WaitTables['events'][number]

/**
 * What must hold of races, told from the stored events alone: a WAIT ended by an event exactly if there is one for it, after its own event and up to its deadline,
 * and what followed it happened once. A second WAIT needs a second event.
 */
export function checkWaits({ events, executions, tasks }: WaitTables): string[] {
  const violations: string[] = []
  const byId = new Map(events.map((event) => [event.id, event]))
  const won = groupBy(
    events.filter(({ type }) => type === 'DEAL_WON'),
    ({ data }) => data.race,
  )
  const ofEvent = groupBy(executions, ({ eventId }) => eventId)
  for (const lead of events.filter(({ type }) => type === 'LEAD_CREATED')) {
    const found = ofEvent.get(lead.id) ?? []
    if (found.length !== 2) violations.push(`race ${lead.data.race} has ${found.length} executions`)
    const deadline = Date.parse(lead.data.until ?? '')
    const inTime = (won.get(lead.data.race) ?? [])
      .filter((event) => isAfter(event, lead) && event.acceptedAt.getTime() <= deadline)
      .sort((one, other) => (isAfter(one, other) ? 1 : -1))
    for (const execution of found) violations.push(...checkExecution(execution, lead, inTime, byId, tasks))
  }
  return violations
}

function checkExecution(
  { id, status, results }: WaitTables['executions'][number],
  lead: StoredEvent,
  inTime: StoredEvent[],
  byId: ReadonlyMap<string, StoredEvent>,
  tasks: WaitTables['tasks'],
): string[] {
  const name = `race ${lead.data.race}, execution ${id}`
  if (status !== 'succeeded') return [`${name} is ${status}`]
  const violations: string[] = []
  const ending = new Set<string>()
  let left = inTime
  for (const { ended, endedBy } of results.filter(({ action }) => action === 'WAIT')) {
    if (ended === 'time' && left.length > 0)
      violations.push(`${name} missed ${left.map((event) => event.id).join(', ')}`)
    if (ended === 'event') {
      const event = byId.get(endedBy?.eventId ?? '')
      if (event === undefined || !left.includes(event))
        violations.push(
          `${name} was ended by ${tell(event)}, which is none of its events in time: ${[lead, ...inTime].map(tell).join(', ')}`,
        )
      if (ending.has(endedBy?.eventId ?? ''))
        violations.push(`${name} was ended twice by ${endedBy?.eventId}`)
      ending.add(endedBy?.eventId ?? '')
      if (event !== undefined) left = left.filter((other) => isAfter(other, event))
    }
    if (ended === undefined) violations.push(`${name} has a WAIT that did not end`)
  }
  const made = tasks.filter(({ executionId }) => executionId === id)
  if (made.length !== 1) violations.push(`${name} has ${made.length} tasks`)
  const [first] = results
  const told = first?.ended === 'event' ? `event ${byId.get(first.endedBy?.eventId ?? '')?.data.n}` : 'time '
  const title = made[0]?.title
  if (title !== `${lead.data.race} twice` && title !== `${lead.data.race} ${told}`)
    violations.push(`${name} told ${title}, and not ${told}`)
  return violations
}

function tell(event: StoredEvent | undefined): string {
  return event === undefined
    ? 'no event'
    : `${event.type} ${event.id} of race ${event.data.race}, accepted at ${event.acceptedAt.toISOString()}${event.data.until === undefined ? '' : `, until ${event.data.until}`}`
}

/** In the order of acceptance. */
function isAfter(event: StoredEvent, other: StoredEvent): boolean {
  const [one, two] = [event.acceptedAt.getTime(), other.acceptedAt.getTime()]
  return one > two || (one === two && event.id > other.id)
}

function groupBy<Item, Key>(items: Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
