import { JobData } from '@automation/queue'
import { Check } from 'typebox/value'

/** As it lies in Redis: somebody may have added it by hand. */
interface QueuedJob {
  name: string
  data: unknown
}

/** What a job is about, in a line. One that is not ours keeps its name. */
export function describeJob({ name, data }: QueuedJob): string {
  if (!Check(JobData, data)) return name
  if (!('events' in data)) return `${name}: an execution of workspace ${data.workspaceId}`
  const { events } = data
  const workspaces = [...new Set(events.map(({ workspaceId }) => workspaceId))]
  const owner = workspaces.length === 1 ? `workspace ${workspaces[0]}` : `${workspaces.length} workspaces`
  return `${name}: ${events.length === 1 ? '1 event' : `${events.length} events`} of ${owner}`
}

/** A job's data without anything to unfold: each event, and its workspace. */
export function describeData(data: unknown): unknown {
  if (!Check(JobData, data) || !('events' in data)) return data
  const events = Object.fromEntries(data.events.map(({ id, workspaceId }) => [id, workspaceId]))
  return { ...data, events }
}

/** Where a job's event is, or the first of its events: all of them stand in its data. */
export function linkToEvent({ data }: QueuedJob, apiUrl: string) {
  if (!Check(JobData, data)) return undefined
  const [id, displayText] = !('events' in data)
    ? [data.eventId, 'Event']
    : [data.events[0]?.id, data.events.length === 1 ? 'Event' : 'First event']
  return { displayText, href: `${apiUrl}/api/events/${id}` }
}
