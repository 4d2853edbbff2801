import type { Task, TaskPage } from './api.js'
import type { Inputs } from './operation.js'
import { Pages } from './pages.js'
import type { RequestOptions, Sender } from './send.js'

type TaskQuery = NonNullable<Inputs<'GET /api/tasks'>['query']>

export class Tasks {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  get(id: string, options?: RequestOptions): Promise<Task> {
    return this.#sender.ask('GET /api/tasks/{id}', { path: { id } }, options)
  }

  /** The tasks that rules have created, newest first. */
  list(query: TaskQuery = {}, options?: RequestOptions): Pages<Task, TaskPage> {
    return new Pages(
      (cursor) => this.#sender.ask('GET /api/tasks', { query: { ...query, ...cursor } }, options),
      (page) => page.tasks,
    )
  }
}
