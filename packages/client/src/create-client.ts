import type { BatchEvent, EventType, TriggerResult, Vocabulary } from './api.js'
import type { BatchReport } from './batch-error.js'
import { Decisions } from './decisions.js'
import { Developer } from './developer/index.js'
import { type DryRunOfEventOptions, dryRunEvent } from './dry-run.js'
import { EmailTemplates } from './email-templates.js'
import { EventTypes } from './event-types.js'
import { Events } from './events.js'
import { Executions } from './executions.js'
import { type IfTag, matchingTag } from './if-version.js'
import type { Inputs, LooseInputs, OperationName } from './operation.js'
import { Probes } from './probes.js'
import type { RateLimit } from './rate-limit.js'
import { Rules } from './rules.js'
import { preferring, type Run, type RunOptions, toRun } from './run.js'
import { type KeyedOptions, type RequestOptions, Sender } from './send.js'
import { Tasks } from './tasks.js'
import { triggerBatch } from './trigger-batch.js'
import { Webhooks } from './webhooks.js'
import { checkRetries, checkTimeout } from './within.js'

export interface ClientOptions {
  /** URL of the API: `https://rules.example.com`. In a browser, '' is the origin of the page. */
  baseUrl: string
  /** A user's JSON Web Token, or a function that returns one within `timeoutMs`. The client calls it before each attempt. */
  token?: string | (() => string | Promise<string>) | undefined
  /** API key of a program, `ark_…`. It belongs to one workspace. */
  apiKey?: string | undefined
  /** Workspace of the requests. A user's token needs it. */
  workspaceId?: string | undefined
  /** Timeout (ms) of an attempt, in addition to the time that the API waits for an outcome. Default: 30 seconds. Infinity: none. */
  timeoutMs?: number | undefined
  /** Maximum number of retries of a request that can be repeated safely. Default: 4. */
  retries?: number | undefined
  /** Delays requests to stay within the rate limit. Only a `signal` limits this delay. */
  keepsPace?: boolean | undefined
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined
}

/** A client of the API for one workspace. @throws TypeError for a wrong option */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, timeoutMs = 30_000, retries = 4, keepsPace = false } = options
  if (!/^(https?:\/\/|\/|$)/.test(baseUrl)) throw new TypeError(`baseUrl is no URL: ${baseUrl}`)
  checkTimeout(timeoutMs)
  checkRetries(retries)
  const sender = new Sender({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    // Called without a receiver, which browsers require.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs,
    retries,
    keepsPace,
    identity: () => identify(options),
  })
  return new Client(sender, options.workspaceId)
}

type OverviewQuery = NonNullable<Inputs<'GET /api/overview'>['query']>

export class Client {
  readonly rules: Rules
  readonly events: Events
  readonly eventTypes: EventTypes
  readonly executions: Executions
  readonly decisions: Decisions
  readonly tasks: Tasks
  readonly emailTemplates: EmailTemplates
  readonly developer: Developer
  readonly webhooks: Webhooks
  readonly probes: Probes
  readonly #sender: Sender

  constructor(sender: Sender, workspaceId: string | undefined) {
    this.rules = new Rules(sender)
    this.events = new Events(sender)
    this.eventTypes = new EventTypes(sender)
    this.executions = new Executions(sender)
    this.decisions = new Decisions(sender)
    this.tasks = new Tasks(sender)
    this.emailTemplates = new EmailTemplates(sender)
    this.developer = new Developer(sender)
    this.webhooks = new Webhooks(sender, workspaceId)
    this.probes = new Probes(sender)
    this.#sender = sender
  }

  /** The same as `events.send`, by the path of the type. */
  async trigger(eventType: EventType, data: object, options: RunOptions = {}): Promise<Run<TriggerResult>> {
    const answer = await this.#sender.send(
      'POST /api/automation-rules/trigger/{eventType}',
      { path: { eventType }, query: {}, body: { data: data as Record<string, unknown> } },
      preferring(options),
    )
    return toRun<TriggerResult>(answer)
  }

  /** What each active rule for the event type would do. Nothing is done, stored or counted. */
  dryRun(eventType: EventType, data: object, options?: DryRunOfEventOptions): Promise<TriggerResult> {
    return dryRunEvent(this.#sender, eventType, data, options)
  }

  /** The same as `events.sendMany`, for events of one type. @throws BatchError if it ends early, with the results so far */
  triggerBatch(
    eventType: EventType,
    events: BatchEvent[],
    options?: RequestOptions,
  ): Promise<BatchReport<BatchEvent>> {
    return triggerBatch(this.#sender, eventType, events, options)
  }

  /** Any operation by its method and path, for programs that are made from the document of the API. The other methods have the types of theirs. */
  call(
    name: OperationName,
    inputs: LooseInputs,
    { ifTag, wait, ...options }: KeyedOptions & IfTag & { wait?: number | undefined } = {},
  ): Promise<unknown> {
    const { headers, ...waiting } = preferring({ ...options, wait })
    const tag = matchingTag({ ifTag })
    const both = () => ({ ...headers?.(), ...tag.headers() })
    return this.#sender.ask(name, inputs as never, { ...waiting, headers: both })
  }

  /** The caller, and its workspaces with its role in each. */
  me(options?: RequestOptions) {
    return this.#sender.ask('GET /api/me', {}, options)
  }

  /** Counts of events, executions and rejected webhooks by time, of the last 24 hours unless the query names a range. */
  overview(query: OverviewQuery = {}, options?: RequestOptions) {
    return this.#sender.ask('GET /api/overview', { query }, options)
  }

  /** What rules may contain: event types, operators, filters, actions and limits. */
  vocabulary(options?: RequestOptions): Promise<Vocabulary> {
    return this.#sender.ask('GET /api/vocabulary', {}, options)
  }

  /** The rate limit in the last response. undefined before the first response. */
  get rateLimit(): RateLimit | undefined {
    return this.#sender.rateLimit
  }
}

async function identify({ token, apiKey, workspaceId }: ClientOptions): Promise<Record<string, string>> {
  const secret = apiKey ?? (typeof token === 'function' ? await token() : token)
  return {
    ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    ...(workspaceId === undefined ? {} : { 'x-workspace-id': workspaceId }),
  }
}
