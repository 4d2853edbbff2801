import type { Task, TaskPage } from './api.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
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
    return this.#sender.list('GET /api/tasks', 'tasks', { query }, options)
  }
}
