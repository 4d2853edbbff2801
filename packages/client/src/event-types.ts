import type {
  EventTypeFields,
  EventTypePage,
  EventTypeToCreate,
  EventTypeToUpdate,
  ListedEventType,
} from './api.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

type EventTypeQuery = NonNullable<Inputs<'GET /api/event-types'>['query']>

export class EventTypes {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Those of the catalogue, then those of the workspace. */
  list(query: EventTypeQuery = {}, options?: RequestOptions): Pages<ListedEventType, EventTypePage> {
    return this.#sender.list('GET /api/event-types', 'eventTypes', { query }, options)
  }

  create(body: EventTypeToCreate, options?: KeyedOptions) {
    return this.#sender.ask('POST /api/event-types', { body }, options)
  }

  /** Changes the description of a type of the workspace. */
  update(name: string, changes: EventTypeToUpdate, options?: RequestOptions) {
    return this.#sender.ask('PATCH /api/event-types/{name}', { path: { name }, body: changes }, options)
  }

  /** Deletes a type of the workspace that no rule uses. It is not repeated: meanwhile somebody may have made the name again. */
  delete(name: string, options?: RequestOptions) {
    return this.#sender.ask(
      'DELETE /api/event-types/{name}',
      { path: { name } },
      { ...options, isRepeatable: false },
    )
  }

  /** What the newest events of the type have: paths, kinds and values. */
  fields(name: string, query: { events?: number } = {}, options?: RequestOptions): Promise<EventTypeFields> {
    return this.#sender.ask('GET /api/event-types/{name}/fields', { path: { name }, query }, options)
  }
}
