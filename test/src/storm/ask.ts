import { setTimeout as delay } from 'node:timers/promises'
import type { Site } from './site.js'

const patienceMs = 5_000

/** What the API said. */
export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  body: any
}

/** One call of a member at one API. Undefined where nobody can tell what came of it. */
export async function ask(
  site: Pick<Site, 'apis' | 'token'>,
  { api, workspaceId }: { api: number; workspaceId: string },
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer | undefined> {
  const url = `${site.apis[api]?.baseUrl}${path}`
  const over = new AbortController()
  const { signal } = over
  const request = {
    method,
    headers: {
      authorization: `Bearer ${site.token}`,
      'x-workspace-id': workspaceId,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  }
  // A storm once waited for ever for a request that was gone.
  const silence = delay(patienceMs, undefined, { signal }).catch(() => undefined)
  const answer = await Promise.race([readAnswer(fetch(url, request)), silence])
  over.abort()
  return answer
}

async function readAnswer(responding: Promise<Response>): Promise<Answer | undefined> {
  const response = await responding.catch(() => undefined)
  const text = await response?.text().catch(() => undefined)
  if (response === undefined || text === undefined || response.status >= 500) return undefined
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
