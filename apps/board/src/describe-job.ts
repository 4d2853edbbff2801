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

/** A link to the job's run, its event, or the first of its events; the job's data lists all of them. */
export function linkJob({ data }: QueuedJob, consoleUrl: string) {
  if (!Check(JobData, data)) return undefined
  if (!('events' in data))
    return {
      displayText: 'Run',
      href: `${consoleUrl}/w/${data.workspaceId}/executions?id=${data.executionId}`,
    }
  const [first] = data.events
  const displayText = data.events.length === 1 ? 'Event' : 'First event'
  return { displayText, href: `${consoleUrl}/w/${first?.workspaceId}/events?id=${first?.id}` }
}
