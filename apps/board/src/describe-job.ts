import { JobData } from '@automation/queue'
import { Check } from 'typebox/value'

/** A job as it is stored in Redis; somebody may have added it by hand. */
interface QueuedJob {
  name: string
  data: unknown
}

/** Describes a job in one line. A job that is not ours keeps its name. */
export function describeJob({ name, data }: QueuedJob): string {
  if (!Check(JobData, data)) return name
  if (!('events' in data)) return `${name}: an execution of workspace ${data.workspaceId}`
  const { events } = data
  const workspaces = [...new Set(events.map(({ workspaceId }) => workspaceId))]
  const owner = workspaces.length === 1 ? `workspace ${workspaces[0]}` : `${workspaces.length} workspaces`
  return `${name}: ${events.length === 1 ? '1 event' : `${events.length} events`} of ${owner}`
}

/** A job's data without nested objects: the workspace of each event. */
export function describeData(data: unknown): unknown {
  if (!Check(JobData, data) || !('events' in data)) return data
  const events = Object.fromEntries(data.events.map(({ id, workspaceId }) => [id, workspaceId]))
  return { ...data, events }
}

/** Where a job can lead. With a console, people see a page; the API responds with JSON. */
export interface Links {
  apiUrl?: string | undefined
  consoleUrl?: string | undefined
}

/** A link to the job's event, or to the first of its events; the job's data lists all of them. */
export function linkToEvent({ data }: QueuedJob, { apiUrl, consoleUrl }: Links) {
  if (!Check(JobData, data)) return undefined
  if (consoleUrl !== undefined && !('events' in data))
    return { displayText: 'Run', href: `${consoleUrl}/w/${data.workspaceId}/runs?id=${data.executionId}` }
  const [id, displayText] = !('events' in data)
    ? [data.eventId, 'Event']
    : [data.events[0]?.id, data.events.length === 1 ? 'Event' : 'First event']
  const workspaceId = 'events' in data ? data.events[0]?.workspaceId : data.workspaceId
  if (consoleUrl !== undefined) return { displayText, href: `${consoleUrl}/w/${workspaceId}/events?id=${id}` }
  return { displayText, href: `${apiUrl}/api/events/${id}` }
}
