import { type Effect, writeChatBody } from '@automation/engine'
import { signStandardWebhook } from '@automation/webhooks'
import { hostOf, RefusedCall } from './address-guard.js'
import { linkToConsole } from './console-link.js'
import type { CredentialFiller, Filling } from './credentials/credential-filler.js'
import {
  type ActionOf,
  type CallContext,
  defaultTimeoutMs,
  failed,
  idempotencyKey,
  refuse,
} from './effect.js'
import type { HttpCaller, HttpRequest } from './http-caller.js'
import type { LogCause } from './log-cause.js'
import type { FindKeys, Recipient } from './outgoing-keys.js'
import { readResponse } from './read-response.js'

type WebhookAction = ActionOf<'SEND_WEBHOOK'> | ActionOf<'SEND_NOTIFICATION'>

const maxBodyBytes = 1_048_576

export interface SenderParts {
  caller: HttpCaller
  findKeys: FindKeys
  /** Fills in credentials. */
  filler: Pick<CredentialFiller, 'fill'>
  logCause: LogCause
  consoleUrl: string | undefined
}

/**
 * Creates the sender of HTTP calls. Every attempt of an action carries the same `Idempotency-Key`, and a signature where its recipient has a
 * secret.
 */
export function createSender({ caller, findKeys, filler, logCause, consoleUrl }: SenderParts) {
  return {
    sendWebhook(action: ActionOf<'SEND_WEBHOOK'>, context: CallContext): Promise<Effect> {
      return send(action, context, ({ url, method = 'POST', headers = {}, timeoutMs, body, capture }) => {
        const hasBody = method !== 'GET' && method !== 'DELETE'
        const sent = body ?? (hasBody ? describeEvent(context, consoleUrl) : undefined)
        return { url, method, headers, body: sent, timeoutMs, capture }
      })
    },
    sendNotification(action: ActionOf<'SEND_NOTIFICATION'>, context: CallContext): Promise<Effect> {
      return send(action, context, (config) => {
        const body = writeChatBody(config)
        return { url: config.url, method: 'POST', headers: {}, body, timeoutMs: undefined }
      })
    },
    close: (): void => caller.close(),
  }

  /** Only a call with credentials looks for them: nothing that is stored or logged is made of what they fill. */
  async function send<Action extends WebhookAction>(
    action: Action,
    context: CallContext,
    compose: (config: Action['config']) => Call,
  ): Promise<Effect> {
    const { timeoutMs = action.of.timeoutMs ?? defaultTimeoutMs } = compose(action.config)
    if (action.fillCredentials === undefined)
      return makeCall(action, context, compose(action.config), { timeoutMs })
    return filler.fill(action, context, timeoutMs, (config, filling) =>
      makeCall(action, context, compose(config as Action['config']), { timeoutMs, filling }),
    )
  }

  async function makeCall(
    action: WebhookAction,
    context: CallContext,
    call: Call,
    { timeoutMs, filling }: { timeoutMs: number; filling?: Filling },
  ): Promise<Effect> {
    const body = call.body === undefined ? null : Buffer.from(writeBody(call))
    if (body && body.length > maxBodyBytes) return refuse(new RefusedCall('The body is larger than 1 MiB'))
    const url = filling?.findHostFault(call.url) ?? caller.readUrl(call.url)
    if (url instanceof RefusedCall) return refuse(url)
    const found = await findKeys(recipientOf(url, context))
    if ('fault' in found) return { ...failed(found.fault), isUncalled: true }
    if (found.keys.length === 0 && context.event.addressee?.kind === 'subscription')
      return refuse(new RefusedCall('The subscription has no signing secret'))
    const headers = composeHeaders(call, body, found.keys, idempotencyKey(action, context))
    // The receiver may continue the trace. A header that the rule sets itself takes precedence.
    if (context.traceparent !== undefined) headers.traceparent ??= context.traceparent
    const mayRepeat = action.of.onUncertain !== 'stop'
    const isSecret = filling !== undefined
    const called = await caller.call(
      url,
      { method: call.method, headers, body, mayRepeat, isSecret },
      { timeoutMs, spentMs: filling?.spentMs() ?? 0 },
      (response) => readResponse(response, url, { capture: call.capture, scrubber: filling?.scrubber }),
      (cause) => logCause(cause, context),
    )
    if ('result' in called) return called.result
    return called.isFinal ? refuse(called.fault) : failed(called.fault)
  }
}

interface Call {
  url: string
  method: HttpRequest['method']
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
