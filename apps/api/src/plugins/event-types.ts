import { isEventType } from '@automation/engine'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import { type Refusal, refusals } from '../errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    eventTypes: EventTypes
  }
}

/** How long (ms) this process may use types that another process has changed. */
const ttlMs = 1_000
const maxWorkspaces = 10_000

type ReadNames = (workspaceId: string) => Promise<ReadonlySet<string>>

/**
 * The event types of workspaces. A name of the catalogue needs no lookup, and one of a workspace's own none beyond one a second, so an event
 * costs no statement more.
 */
export class EventTypes {
  readonly #read: ReadNames
  readonly #own: LRUCache<string, ReadonlySet<string>>

  constructor(read: ReadNames) {
    this.#read = read
    this.#own = new LRUCache({
      max: maxWorkspaces,
      ttl: ttlMs,
      ignoreFetchAbort: true,
      fetchMethod: (workspaceId) => read(workspaceId),
    })
  }

  /** Whether a workspace has the type. A name that is missing is looked up again: the type may have been made a moment ago. */
  async has(workspaceId: string, name: string): Promise<boolean> {
    if (isEventType(name)) return true
    if ((await this.#own.fetch(workspaceId))?.has(name)) return true
    return (await this.readOwn(workspaceId)).has(name)
  }

  /** The same, up to a second late: for names that senders choose, and that are often no types. */
  async hadLately(workspaceId: string, name: string): Promise<boolean> {
    return isEventType(name) || (await this.#own.fetch(workspaceId))?.has(name) === true
  }

  /** The names of a workspace's own types, as they are. */
  async readOwn(workspaceId: string): Promise<ReadonlySet<string>> {
    const names = await this.#read(workspaceId)
    this.#own.set(workspaceId, names)
    return names
  }

  /** What refuses a name that is no type: with the types of the workspace that are near. @param field that has the name */
  async refusalOf(workspaceId: string, name: string, field: string): Promise<Refusal> {
    const own = await this.#own.fetch(workspaceId)
    return refusals.invalidTriggerType(name, field, [...(own ?? [])])
  }

  /** Call it after a change. */
  forget(workspaceId: string): void {
    this.#own.delete(workspaceId)
  }
}

export default fp(
  async (app) => {
    const types = new EventTypes(async (workspaceId) => {
      const { ownEventType } = app.database.forWorkspace(workspaceId)
      const rows = await ownEventType.findMany({ select: { name: true } })
      return new Set(rows.map(({ name }) => name))
    })
    app.decorate('eventTypes', types)
  },
  { name: 'event-types', dependencies: ['resources'] },
)
