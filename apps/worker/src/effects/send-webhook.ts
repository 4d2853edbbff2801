import { type Effect, writeChatBody } from '@automation/engine'
import { signStandardWebhook } from '@automation/webhooks'
import type { Config } from '../config.js'
import { createAddressGuard, hostOf, RefusedCall } from './address-guard.js'
import { linkToConsole } from './console-link.js'
import { createResolver } from './create-resolver.js'
import { type ActionOf, type CallContext, defaultTimeoutMs, failed, idempotencyKey } from './effect.js'
import { GuardedAgent } from './guarded-agent.js'
import { createGuardedConnector } from './guarded-connector.js'
import type { LogCause } from './log-cause.js'
import type { FindKeys, Recipient } from './outgoing-keys.js'
import { readResponse } from './read-response.js'

type WebhookAction = ActionOf<'SEND_WEBHOOK'> | ActionOf<'SEND_NOTIFICATION'>

const maxBodyBytes = 1_048_576
const noAnswer = 'Timed out after'

/**
 * Creates the sender of HTTP calls. It reaches no private address, follows no redirect, and ends each call at the action's timeout.
 * Every attempt of an action carries the same `Idempotency-Key`, and a signature where its recipient has a secret.
 */
export function createSender(
  outbound: Config['outbound'],
  findKeys: FindKeys,
  logCause: LogCause,
  resolveHost = createResolver(),
) {
  const guard = createAddressGuard(outbound)
  const agent = new GuardedAgent(createGuardedConnector(guard, resolveHost))

  return {
    sendWebhook(action: ActionOf<'SEND_WEBHOOK'>, context: CallContext): Promise<Effect> {
      const { url, method = 'POST', headers = {}, timeoutMs, capture } = action.config
      const hasBody = method !== 'GET' && method !== 'DELETE'
      const body = action.config.body ?? (hasBody ? describeEvent(context, outbound.consoleUrl) : undefined)
      return send(action, context, { url, method, headers, body, timeoutMs, capture })
    },
    sendNotification(action: ActionOf<'SEND_NOTIFICATION'>, context: CallContext): Promise<Effect> {
      const { url } = action.config
      const body = writeChatBody(action.config)
      return send(action, context, { url, method: 'POST', headers: {}, body, timeoutMs: undefined })
    },
    close: (): void => agent.close(),
  }

  async function send(action: WebhookAction, context: CallContext, call: Call): Promise<Effect> {
    const { method, timeoutMs = action.of.timeoutMs ?? defaultTimeoutMs } = call
    const body = call.body === undefined ? null : Buffer.from(writeBody(call))
    if (body && body.length > maxBodyBytes) return refuse(new RefusedCall('The body is larger than 1 MiB'))
    const url = guard.readUrl(call.url)
    if (url instanceof RefusedCall) return refuse(url)
    const found = await findKeys(recipientOf(url, context))
    if ('fault' in found) return failed(found.fault)
    if (found.keys.length === 0 && context.event.addressee?.kind === 'subscription')
      return refuse(new RefusedCall('The subscription has no signing secret'))
    const headers = composeHeaders(call, body, found.keys, idempotencyKey(action, context))
    // The receiver may continue the trace. A header that the rule sets itself takes precedence.
    if (context.traceparent !== undefined) headers.traceparent ??= context.traceparent
    const mayRepeat = action.of.onUncertain !== 'stop'
    try {
      return await within(timeoutMs, (signal) =>
        agent.call(url, { method, headers, body, mayRepeat }, signal, (response) =>
          readResponse(response, url, call.capture),
        ),
      )
    } catch (error) {
      // Several addresses were tried: the fault of the first one stands for all.
      const cause: unknown = error instanceof AggregateError ? error.errors[0] : error
      if (namesAddress(cause)) logCause(cause, context)
      return cause instanceof RefusedCall ? refuse(cause) : failed(describeFault(cause, hostOf(url)))
    }
  }
}

interface Call {
  url: string
  method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE'
  headers: Record<string, string>
  body: unknown
  timeoutMs: number | undefined
  capture?: Record<string, string> | undefined
}

/** A body is JSON, except for a text that the rule declares as something else, such as a form. */
function writeBody({ body, headers }: Call): string {
  const [, type] = Object.entries(headers).findLast(([name]) => name.toLowerCase() === 'content-type') ?? []
  const isJson = type === undefined || /[/+]json\b/i.test(type)
  return typeof body === 'string' && !isJson ? body : JSON.stringify(body)
}

/** The default body of a call. Subscribers are led to the console, where there is one. */
function describeEvent({ event, startedAt }: CallContext, consoleUrl: string | undefined) {
  const body = { type: event.type, timestamp: startedAt.toISOString(), data: event.data }
  if (consoleUrl === undefined || event.addressee?.kind !== 'subscription') return body
  return { ...body, consoleUrl: linkToConsole(consoleUrl, event) }
}

/** The recipient whose secret signs. */
function recipientOf(url: URL, { event: { workspaceId, addressee } }: CallContext): Recipient {
  return { workspaceId, counterparty: addressee?.kind === 'subscription' ? addressee.id : hostOf(url) }
}

/** The rule's headers replace the default ones. Nothing replaces the idempotency key and the signature. */
function composeHeaders({ headers: own }: Call, body: Buffer | null, keys: Buffer[], id: string) {
  const headers: Record<string, string> = { 'user-agent': 'automation-rules' }
  if (body) headers['content-type'] = 'application/json'
  for (const [name, value] of Object.entries(own)) headers[name.toLowerCase()] = value
  headers['idempotency-key'] = id
  if (keys.length === 0) return headers
  const timestamp = String(Math.floor(Date.now() / 1_000))
  return Object.assign(headers, signStandardWebhook(keys, { id, timestamp, body: body ?? '' }))
}

async function within(timeoutMs: number, call: (signal: AbortSignal) => Promise<Effect>): Promise<Effect> {
  const controller = new AbortController()
  const cancel = () => controller.abort(new Error(`${noAnswer} ${timeoutMs} ms`))
  const timer = setTimeout(cancel, timeoutMs)
  try {
    return await call(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** An error of the network, about one address. */
type AddressFault = Error & { address: string; port?: number; syscall?: string; code?: string }

function namesAddress(error: unknown): error is AddressFault {
  return error instanceof Error && typeof (error as Partial<AddressFault>).address === 'string'
}

/** The tenant knows the host, but not what this network resolves it to, nor the address of this machine, which Node names as well. */
function describeFault(error: unknown, host: string): string {
  if (!namesAddress(error)) return nameHost(failed(error).error, host)
  const { syscall = 'connect', code = 'failed', port } = error
  return `${syscall} ${code} ${host}${port === undefined ? '' : `:${port}`}`
}

function nameHost(fault: string, host: string): string {
  return fault.includes(host) || fault.startsWith(noAnswer) ? fault : `${host}: ${fault}`
}

function refuse(refusal: RefusedCall): Effect {
  const effect = failed(refusal)
  effect.isFinal = true
  return effect
}
