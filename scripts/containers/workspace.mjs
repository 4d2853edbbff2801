import { setTimeout } from 'node:timers/promises'

/** A workspace of the product in the containers, whose one rule sends an email for each event. */
export class Workspace {
  /** Events that the API accepted. */
  accepted = 0
  #origin
  #id
  #token

  static async create(project, origin) {
    const { id } = await project.admin('workspaces', 'create', '--name', 'Check', '--admin', 'checker')
    const { token } = await project.admin('tokens', 'mint', '--user', 'checker')
    const workspace = new Workspace(origin, id, token)
    await workspace.call('POST', '/api/email-templates', { name: 'welcome', text: 'Hello {{name}}' })
    await workspace.call('POST', '/api/automation-rules', {
      name: 'Welcome',
      trigger: 'LEAD_CREATED',
      conditions: [],
      actions: [
        { type: 'SEND_EMAIL', config: { to: 'lead@example.com', subject: 'Welcome', template: 'welcome' } },
      ],
    })
    return workspace
  }

  constructor(origin, id, token) {
    this.#origin = origin
    this.#id = id
    this.#token = token
  }

  /**
   * Repeats a GET that got 503, as the API asks for: on a busy machine Postgres may accept no connection for some seconds.
   *
   * @throws what fetch throws, or an error with the response
   */
  async call(method, path, body, attempts = method === 'GET' ? 30 : 1) {
    const response = await fetch(this.#origin + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        'x-workspace-id': this.#id,
        prefer: 'respond-async',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    if (response.status === 503 && attempts > 1) {
      await setTimeout(1_000)
      return this.call(method, path, body, attempts - 1)
    }
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  async sendEvent() {
    await this.call('POST', '/api/automation-rules/trigger/LEAD_CREATED', { data: { name: 'Ada' } })
    this.accepted++
  }

  /** So that mails are under way, and more of them wait. */
  async #sendBatch() {
    const events = Array.from({ length: 50 }, () => ({ data: { name: 'Ada' } }))
    await this.call('POST', '/api/automation-rules/trigger/LEAD_CREATED/batch', { events })
    this.accepted += events.length
  }

  /** Sends events, as many at a time, until the API is gone. */
  sendEvents(width) {
    const send = async () => {
      for (;;) {
        try {
          await this.#sendBatch()
        } catch {
          return
        }
      }
    }
    return Promise.all(Array.from({ length: width }, send))
  }

  async waitForAccepted(events) {
    while (this.accepted < events) await setTimeout(5)
  }

  /** The errors of failed executions, for the user. */
  async describeFailures() {
    const { executions } = await this.call('GET', '/api/executions?status=failed&limit=100')
    const errors = executions.map(({ error }) => error)
    return `Failed executions: ${JSON.stringify([...new Set(errors)])}`
  }

  /** Waits until nothing is under way. @returns the executions by status, and the imbalance of the ledger */
  async waitForExecutions(withinMs) {
    const deadline = Date.now() + withinMs
    for (;;) {
      const { events, executions, imbalance } = await this.call('GET', '/api/developer/v1/ledger')
      const left = events.waiting + executions.waiting + executions.leased
      if (left === 0) return { ...executions, imbalance }
      if (Date.now() > deadline) throw new Error(`${left} events and executions are not finished`)
      await setTimeout(500)
    }
  }
}
