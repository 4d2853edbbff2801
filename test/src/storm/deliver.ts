import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { signWebhook } from '@automation/webhooks'
import type { PlannedEvent } from './planned-event.js'
import { listTags } from './rule-book.js'
import { provider, type Site } from './site.js'

/**
 * How a call ended for its caller. Unknown: no answer came, or one that does not say whether it was accepted (5xx). Failed:
 * it certainly was not.
 */
export interface Outcome {
  kind: 'ok' | 'failed' | 'unknown'
  status: number | undefined
  /** The id of the event or receipt, from the response. */
  id: string | undefined
  /** When it ended (epoch ms). */
  at: number
}

interface Call {
  path: string
  headers: Record<string, string>
  body: string
}

/** Longer than a sync caller wants to wait (`Prefer`), shorter than a process sleeps. */
const patienceMs = 5_000
const waitSeconds = 2

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

/** One attempt. */
export async function deliver(site: Site, baseUrl: string, event: PlannedEvent): Promise<Outcome> {
  const url = event.route === 'webhook' ? (site.webhooksTo?.baseUrl ?? baseUrl) : baseUrl
  return { ...(await post(url, callOf(site, event))), at: Date.now() }
}

function callOf(site: Site, event: PlannedEvent): Call {
  if (event.route === 'webhook') return signedCall(site, event)
  return event.route === 'batch' ? batchCall(site, event) : triggerCall(site, event)
}

function triggerCall({ token, workspaces }: Site, event: PlannedEvent): Call {
  return {
    path: `/api/automation-rules/trigger/${event.type}`,
    headers: {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaces[event.workspace]?.id ?? '',
      prefer: event.isSync ? `wait=${waitSeconds}` : 'respond-async',
      ...(event.isKeyed && { 'idempotency-key': event.name }),
    },
    body: JSON.stringify({ data: { name: event.name, tags: listTags(event.tags) } }),
  }
}

/** Its key belongs to the event, and is the same as that of a request of its own. */
function batchCall({ token, workspaces }: Site, event: PlannedEvent): Call {
  const own = {
    data: { name: event.name, tags: listTags(event.tags) },
    ...(event.isKeyed && { idempotencyKey: event.name }),
  }
  return {
    path: `/api/automation-rules/trigger/${event.type}/batch`,
    headers: {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaces[event.workspace]?.id ?? '',
    },
    body: JSON.stringify({ events: [own] }),
  }
}

function signedCall({ workspaces }: Site, event: PlannedEvent): Call {
  const workspace = workspaces[event.workspace]
  if (workspace === undefined) throw new Error(`There is no workspace ${event.workspace}`)
  const body = JSON.stringify({ type: 'contact.created', data: { name: event.name } })
  const timestamp = String(Math.floor(Date.now() / 1_000))
  return {
    path: `/api/incoming-webhooks/${provider}/${workspace.id}`,
    headers: {
      'x-idempotency-key': event.name,
      'x-timestamp': timestamp,
      'x-signature': signWebhook(workspace.signingKey, { id: event.name, timestamp, body }),
      'x-signature-id': workspace.secretId,
    },
    body,
  }
}

function post(baseUrl: string, { path, headers, body }: Call): Promise<Omit<Outcome, 'at'>> {
  return new Promise((resolve) => {
    const sent = request(
      `${baseUrl}${path}`,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      async (response) => {
        const answer = await text(response).catch(() => undefined)
        clearTimeout(patience)
        resolve(readResponse(response.statusCode, answer, response.headers['content-location']))
      },
    )
    const patience = setTimeout(() => {
      resolve({ kind: 'unknown', status: undefined, id: undefined })
      sent.destroy()
    }, patienceMs)
    sent.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(patience)
      // Nobody listened there. A request that breaks off in any other way may have arrived.
      const kind = error.code === 'ECONNREFUSED' ? 'failed' : 'unknown'
      resolve({ kind, status: undefined, id: undefined })
    })
    sent.end(body)
  })
}

function readResponse(
  status: number | undefined,
  answer: string | undefined,
  location: string | undefined,
): Omit<Outcome, 'at'> {
  // The end of the answer is missing, but it was one.
  if (answer === undefined || status === undefined || status >= 500)
    return { kind: 'unknown', status, id: undefined }
  if (status === 200 || status === 202) {
    const { id, results } = JSON.parse(answer) as { id?: string; results?: { id?: string }[] }
    return { kind: 'ok', status, id: id ?? location?.split('/').at(-1) ?? results?.[0]?.id }
  }
  // Its key is taken, by a call that is accepted and not answered yet.
  return { kind: status === 409 ? 'ok' : 'failed', status, id: undefined }
}
