import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import type { Workspace } from '../workspace.js'

export const rulesPath = '/api/automation-rules'
export const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

/** Sends at a fixed pace, whether or not there were responses, and at most 50 at a time. */
export async function repeat(signal: AbortSignal, everyMs: number, send: (n: number) => Promise<unknown>) {
  const underWay = new Set<Promise<unknown>>()
  for (let n = 0; !signal.aborted; n++) {
    if (underWay.size < 50) {
      const sent = send(n).catch(() => {})
      underWay.add(sent)
      void sent.then(() => underWay.delete(sent))
    }
    await delay(everyMs)
  }
  await Promise.all(underWay)
}

export async function post(workspace: Workspace, path: string, body: object): Promise<void> {
  await send('POST', workspace, path, body)
}

/** @returns what the response has; undefined where it is no JSON */
export async function send(
  method: string,
  { baseUrl, headers }: Workspace,
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { ...headers, prefer: 'respond-async' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined
}

export async function get({ baseUrl, headers }: Workspace, path: string): Promise<unknown> {
  const response = await fetch(`${baseUrl}${path}`, { headers, signal: AbortSignal.timeout(60_000) })
  return response.json()
}

/** Reads a response without keeping it: the quiet callers share this process, and must not wait for it. */
export async function drain(
  { baseUrl, headers }: Pick<Workspace, 'baseUrl' | 'headers'>,
  path: string,
): Promise<void> {
  const { body } = await request(`${baseUrl}${path}`, { headers, signal: AbortSignal.timeout(60_000) })
  await body.dump({ limit: Number.MAX_SAFE_INTEGER })
}
