import type { Event, EventType, SampleEvents } from '@automation/client'
import { eventTypeDefinitions, reservedTypeDefinitions, scheduleType } from '@automation/engine'
import type { Sample } from '../../logic/evaluate-definition.js'
import { api, may } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'

/** How many of a type are read. */
export const mostSamples = 100

/**
 * The newest events of the type, an event that somebody asks about, and where there is none the example of the type.
 *
 * @param ruleId of a saved rule: it has ticks of its own
 */
export function useSamples(trigger: string, eventId: string | undefined, ruleId: string | undefined) {
  const isTicking = trigger === scheduleType

  const found = useQuery<SampleEvents>({
    key: ['samples', trigger, isTicking ? ruleId : ''],
    read: async () =>
      isTicking && ruleId === undefined
        ? { events: [] }
        : api().events.samples(trigger as EventType, {
            limit: mostSamples,
            ...(isTicking && ruleId && { ruleId }),
          }),
    pollMs: false,
  })
  const asked = useQuery<Event>({
    key: eventId === undefined || (inFrame && !may('read events')) ? undefined : ['event', eventId],
    read: () => api().events.get(eventId ?? ''),
    pollMs: false,
  })
  const events: Sample[] = found.data?.events ?? []
  const first: Sample[] =
    asked.data && asked.data.type === trigger && !events.some(({ id }) => id === eventId)
      ? [{ id: asked.data.id, data: asked.data.data, acceptedAt: asked.data.acceptedAt }]
      : []
  const example =
    [...eventTypeDefinitions, ...reservedTypeDefinitions].find(({ type }) => type === trigger)?.example ?? {}
  const samples =
    found.data && events.length + first.length === 0
      ? [{ id: 'example', data: example, acceptedAt: null }]
      : [...first, ...events]
  return { samples, isPending: found.isPending, error: found.error, refetch: () => void found.refetch() }
}
