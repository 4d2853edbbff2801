import type { BatchAnswer, BatchEvent, EventType, TriggerResult } from './api.js'
import { Developer } from './developer/index.js'
import { EmailTemplates } from './email-templates.js'
import { Events } from './events.js'
import { Executions } from './executions.js'
import { Probes } from './probes.js'
import type { RateLimit } from './rate-limit.js'
import { Rules } from './rules.js'
import { preferring, type Run, type RunOptions, tellRun } from './run.js'
import { createSender, type RequestOptions, type Sender } from './send.js'
import { Tasks } from './tasks.js'
import { triggerBatch } from './trigger-batch.js'
import { Webhooks } from './webhooks.js'

export interface ClientOptions {
  /** Where the API is: `https://rules.example.com`. In a browser '' is where the page comes from. */
  baseUrl: string
  /** A user's JSON Web Token, or what gets one: it is asked before each attempt. */
  token?: string | (() => string | Promise<string>) | undefined
  /** A program's key, `ark_…`, which knows its workspace. */
  apiKey?: string | undefined
  /** The workspace to work in; a user needs it. */
  workspaceId?: string | undefined
  /** How long (ms) an attempt may take, on top of what the API is asked to wait. 30 seconds where omitted. */
  timeoutMs?: number | undefined
  /** How often a request is tried again where that helps and harms nothing. 4 where omitted. */
  retries?: number | undefined
  /** Waits for the rate limit rather than running into it. */
  keepsPace?: boolean | undefined
  /** Instead of the global one. */
  fetch?: typeof fetch | undefined
}

/** The way to the API for one workspace. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, timeoutMs = 30_000, retries = 4, keepsPace = false } = options
  if (!/^(https?:\/\/|\/|$)/.test(baseUrl)) throw new TypeError(`baseUrl is no URL: ${baseUrl}`)
  const sender = createSender({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    // Called as a function of nobody: browsers insist on it.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs,
    retries,
    keepsPace,
    identity: () => identify(options),
  })
  return new Client(sender, options.workspaceId)
}

export class Client {
  readonly rules: Rules
  readonly events: Events
  readonly executions: Executions
  readonly tasks: Tasks
  readonly emailTemplates: EmailTemplates
  readonly developer: Developer
  readonly webhooks: Webhooks
  readonly probes: Probes
  readonly #sender: Sender

  constructor(sender: Sender, workspaceId: string | undefined) {
    this.rules = new Rules(sender)
    this.events = new Events(sender)
    this.executions = new Executions(sender)
    this.tasks = new Tasks(sender)
    this.emailTemplates = new EmailTemplates(sender)
    this.developer = new Developer(sender)
    this.webhooks = new Webhooks(sender, workspaceId)
    this.probes = new Probes(sender)
    this.#sender = sender
  }

  /** Posts an event: every active rule of its type runs. */
  async trigger(eventType: EventType, data: object, options: RunOptions = {}): Promise<Run<TriggerResult>> {
    const answer = await this.#sender.send(
      'POST /api/automation-rules/trigger/{eventType}',
      { path: { eventType }, body: { data: data as Record<string, unknown> } },
      preferring(options),
    )
    return tellRun<TriggerResult>(answer)
  }

  /** Posts events, any number: each has a result of its own, in their order, and none is waited for. */
  triggerBatch(eventType: EventType, events: BatchEvent[], options?: RequestOptions): Promise<BatchAnswer> {
    return triggerBatch(this.#sender, eventType, events, options)
  }

  /** What the last answer told of the bucket; undefined before the first. */
  get rateLimit(): RateLimit | undefined {
    return this.#sender.rateLimit()
  }
}

async function identify({ token, apiKey, workspaceId }: ClientOptions): Promise<Record<string, string>> {
  const secret = apiKey ?? (typeof token === 'function' ? await token() : token)
  return {
    ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    ...(workspaceId === undefined ? {} : { 'x-workspace-id': workspaceId }),
  }
}
