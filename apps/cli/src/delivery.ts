import { readSigningKey, signWebhook } from '@automation/webhooks'
import { CommandFault } from './command-fault.js'

/** Where webhooks go, and what signs them. */
export interface Target {
  /** Of the product, such as `http://127.0.0.1:3000`. */
  url: string
  /** Its id. */
  workspace: string
  provider: string
  secretId: string
  /** The signing secret itself, `whsec_…`. */
  secret: string
}

export interface Delivery {
  url: string
  headers: Record<string, string>
  body: Buffer
}

export interface Answer {
  status: number
  /** JSON where it is some, else text. */
  body: unknown
}

const patienceMs = 30_000

/** @throws CommandFault where the target's URL or secret is none */
export function signDelivery(target: Target, id: string, body: Buffer, sentAt: Date): Delivery {
  if (!/^https?:/.test(target.url) || !URL.canParse(target.url))
    throw new CommandFault(`--url has to be like http://127.0.0.1:3000, and is ${target.url}.`, {
      exitCode: 2,
    })
  const timestamp = `${Math.floor(sentAt.getTime() / 1_000)}`
  const path = [target.provider, target.workspace].map(encodeURIComponent).join('/')
  return {
    url: `${target.url.replace(/\/+$/, '')}/api/incoming-webhooks/${path}`,
    headers: {
      'content-type': 'application/json',
      'x-idempotency-key': id,
      'x-timestamp': timestamp,
      'x-signature-id': target.secretId,
      'x-signature': signWebhook(readKey(target.secret), { id, timestamp, body }),
    },
    body,
  }
}

/** The same delivery with one bit of its body changed on the way. */
export function tamperWith({ body, ...delivery }: Delivery): Delivery {
  const changed = Buffer.from(body)
  const middle = changed.length >> 1
  changed[middle] = (changed[middle] ?? 0) ^ 1
  return { ...delivery, body: changed }
}

/** @throws CommandFault where nobody answers */
export async function sendDelivery({ url, headers, body }: Delivery): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const response = await fetch(url, { method: 'POST', headers, body, signal })
    return { status: response.status, body: readJson(await response.text()) }
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string; message: string } }
    throw new CommandFault(
      `Nobody answers at ${new URL(url).origin} (${cause?.code ?? cause?.message ?? message}): run npm start first, or say --url.`,
      { cause: error },
    )
  }
}

function readKey(secret: string): Buffer {
  try {
    return readSigningKey(secret)
  } catch (error) {
    throw new CommandFault('--secret has to be whsec_ and base64.', { cause: error, exitCode: 2 })
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
