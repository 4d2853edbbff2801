import type { Event, Rule } from '@automation/client'
import { Dialog } from '../../parts/dialog.js'
import { stopAsking } from '../../parts/question.js'
import { ReplayDialog } from '../../parts/replay.js'
import { Unread } from '../../parts/states.js'
import { api } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'

/** The plan needs what became of the event before. */
export function PlanOfEvent({ id, rule }: { id: string; rule: Rule }) {
  const event = useQuery<Event>({ key: ['event', id], read: () => api().events.get(id), pollMs: false })
  if (event.data) return <ReplayDialog event={event.data} only={rule} />
  return (
    <Dialog title="Replay the event?" close={stopAsking}>
      <Unread {...event} what="the event" />
    </Dialog>
  )
}
