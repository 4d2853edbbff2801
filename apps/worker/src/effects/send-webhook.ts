import type { Effect } from '@automation/engine'
import { request } from 'undici'
import type { Cidr } from '../config.js'
import { type ActionOf, defaultTimeoutMs, failed, idempotencyKey, type RunContext } from './effect.js'
import { createGuardedAgent } from './guarded-agent.js'

const maxAnswerBytes = 65_536

/**
 * Calls out over HTTP. Redirects are not followed, addresses are guarded, and every repeat of the same action carries
 * the same `Idempotency-Key`. Any 2xx is a success.
 */
export function createSender(allow: Cidr[]) {
  const dispatcher = createGuardedAgent(allow)

  async function send(
    action: ActionOf<'SEND_WEBHOOK'> | ActionOf<'SEND_NOTIFICATION'>,
    context: RunContext,
    { url, method = 'POST', headers = {}, body, timeoutMs = action.timeoutMs ?? defaultTimeoutMs }: Call,
  ): Promise<Effect> {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const answer = await request(url, {
        dispatcher,
        method,
        headers: {
          'user-agent': 'automation-rules',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          'idempotency-key': idempotencyKey(action, context),
          ...lowerCaseNames(headers),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal,
      })
      await answer.body.dump({ limit: maxAnswerBytes, signal })
      const isSuccess = answer.statusCode >= 200 && answer.statusCode < 300
      const output = { statusCode: answer.statusCode }
      return isSuccess
        ? { status: 'success', output }
        : { status: 'failed', error: `HTTP ${answer.statusCode}`, output }
    } catch (error) {
      return error instanceof DOMException && error.name === 'TimeoutError'
        ? failed(`No answer within ${timeoutMs} ms`)
        : failed(error)
    }
  }

  return {
    sendWebhook(action: ActionOf<'SEND_WEBHOOK'>, context: RunContext): Promise<Effect> {
      const { body, ...call } = action.config
      const hasBody = call.method !== 'GET' && call.method !== 'DELETE'
      return send(action, context, { ...call, body: body ?? (hasBody ? describeEvent(context) : undefined) })
    },
    sendNotification(action: ActionOf<'SEND_NOTIFICATION'>, context: RunContext): Promise<Effect> {
      const { url, text } = action.config
      return send(action, context, { url, body: { text } })
    },
    async close(): Promise<void> {
      await dispatcher.destroy()
    },
  }
}

interface Call {
  url: string
  method?: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE'
  headers?: Record<string, string>
  body?: unknown
  timeoutMs?: number
}

/** What a call tells where the rule names no body of its own. */
function describeEvent({ event, startedAt }: RunContext) {
  return { type: event.type, timestamp: startedAt.toISOString(), data: event.data }
}

function lowerCaseNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
