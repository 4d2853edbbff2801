import { setTimeout } from 'node:timers/promises'
import { type Database, newId } from '@automation/database'
import { JobData } from '@automation/queue'
import { Check } from 'typebox/value'

/** What the ids in a job are called. Each returns undefined for what it does not know. */
export interface JobNames {
  type(eventId: string): string | undefined
  workspace(id: string): string | undefined
}

/** Of a job, the types of so many events are named. */
const namedOfJob = 10
/** Names are kept, until there are so many. */
const maxNames = 20_000
/** A page does not wait longer (ms): it then has ids. */
const waitMs = 1_000

/**
 * Jobs carry ids alone, so their names come from Postgres: two small queries for a page of jobs, while somebody looks. The type of an event stays. The
 * name of a workspace may change, so it is read for each page.
 */
export class StoredJobNames implements JobNames {
  readonly #database: Database
  readonly #types = new Map<string, string>()
  readonly #workspaces = new Map<string, string>()

  constructor(database: Database) {
    this.#database = database
  }

  type(eventId: string): string | undefined {
    return this.#types.get(eventId)
  }

  workspace(id: string): string | undefined {
    return this.#workspaces.get(id)
  }

  /** The first queries of a process take longer than a page waits for its names. */
  async prepare(): Promise<void> {
    const { event, workspace } = this.#database.system
    const none = { where: { id: { in: [newId()] } }, select: { id: true as const } }
    await Promise.all([event.findMany(none), workspace.findMany(none)]).catch(() => {})
  }

  /** Reads the names of these jobs, unless Postgres is slow or unavailable. */
  async read(jobs: readonly { data: unknown }[]): Promise<void> {
    const named = jobs.flatMap(({ data }) => listNamed(data))
    const ended = new AbortController()
    const late = setTimeout(waitMs, undefined, { signal: ended.signal, ref: false })
    await Promise.race([this.#read(named), late]).catch(() => {})
    ended.abort()
  }

  async #read(named: { id: string; workspaceId: string }[]): Promise<void> {
    if (this.#types.size > maxNames) this.#types.clear()
    if (this.#workspaces.size > maxNames) this.#workspaces.clear()
    const unknownEvents = named.map(({ id }) => id).filter((id) => !this.#types.has(id))
    const owners = [...new Set(named.map(({ workspaceId }) => workspaceId))]
    const { event, workspace } = this.#database.system
    if (unknownEvents.length > 0) {
      const select = { id: true, type: true } as const
      const events = await event.findMany({ where: { id: { in: unknownEvents } }, select })
      for (const { id, type } of events) this.#types.set(id, type)
    }
    if (owners.length === 0) return
    const select = { id: true, name: true } as const
    const workspaces = await workspace.findMany({ where: { id: { in: owners } }, select })
    for (const { id, name } of workspaces) this.#workspaces.set(id, name)
  }
}

/** The events of a job that are named. */
export function listNamed(data: unknown): { id: string; workspaceId: string }[] {
  if (!Check(JobData, data)) return []
  return 'events' in data
    ? data.events.slice(0, namedOfJob)
    : [{ id: data.eventId, workspaceId: data.workspaceId }]
}
