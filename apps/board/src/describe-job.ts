import { JobData } from '@automation/queue'
import { Check } from 'typebox/value'
import { type JobNames, listNamed } from './job-names.js'

/** A job as it is stored in Redis; somebody may have added it by hand. */
interface QueuedJob {
  name: string
  data: unknown
}

/** Describes a job in one line: `trigger: LEAD_CREATED in Demo`. What has no known name has its id. A job that is not ours keeps its name. */
export function describeJob({ name, data }: QueuedJob, names: JobNames): string {
  if (!Check(JobData, data)) return name
  const owners = new Set(
    'events' in data ? data.events.map((event) => event.workspaceId) : [data.workspaceId],
  )
  const types = new Set(listNamed(data).flatMap(({ id }) => names.type(id) ?? []))
  return `${name}: ${describeWhat(data, [...types])} ${describeOwners([...owners], names)}`
}

/** At most so many types stand in a line. */
const shownTypes = 3

function describeWhat(data: JobData, types: string[]): string {
  const shown = `${types.slice(0, shownTypes).join(', ')}${types.length > shownTypes ? '…' : ''}`
  if (!('events' in data)) return shown || 'an execution'
  const { length } = data.events
  if (length === 1) return shown || '1 event'
  return shown === '' ? `${length} events` : `${length} × ${shown}`
}

function describeOwners([first = '', ...others]: string[], names: JobNames): string {
  if (others.length > 0) return `in ${others.length + 1} workspaces`
  const name = names.workspace(first)
  return name === undefined ? `of workspace ${first}` : `in ${name}`
}

/** A job's data without nested objects: the workspace of each event. */
export function describeData(data: unknown): unknown {
  if (!Check(JobData, data) || !('events' in data)) return data
  const events = Object.fromEntries(data.events.map(({ id, workspaceId }) => [id, workspaceId]))
  return { ...data, events }
}

/** A link to the job's execution, its event, or the first of its events; the job's data lists all of them. */
export function linkJob({ data }: QueuedJob, consoleUrl: string) {
  if (!Check(JobData, data)) return undefined
  if (!('events' in data))
    return {
      displayText: 'Execution',
      href: `${consoleUrl}/w/${data.workspaceId}/executions?id=${data.executionId}`,
    }
  const [first] = data.events
  const displayText = data.events.length === 1 ? 'Event' : 'First event'
  return { displayText, href: `${consoleUrl}/w/${first?.workspaceId}/events?id=${first?.id}` }
}
