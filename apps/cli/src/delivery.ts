import {
  readSchemeKey,
  readSigningKey,
  type SchemeName,
  type SchemeSettings,
  signByScheme,
  useScheme,
} from '@automation/webhooks'
import { CommandError, usageError } from './command-error.js'

/** The destination of webhooks, and the secret that signs them. */
export interface Target {
  /** URL of the product, such as `http://127.0.0.1:3000`. */
  url: string
  /** Id of the workspace. */
  workspace: string
  provider: string
  secretId: string
  /** The signing secret itself, `whsec_…`. */
  secret: string
}

/** A webhook, and the scheme in which it is to be signed. */
export interface UnsignedWebhook {
  scheme: SchemeName
  settings: SchemeSettings
  id: string
  type: string
  isForm: boolean
  body: Buffer
}

export interface SignedDelivery {
  url: string
  headers: Record<string, string>
  body: Buffer
}

export interface DeliveryResponse {
  status: number
  /** The parsed body if it is JSON, otherwise its text. */
  body: unknown
}

const timeoutMs = 30_000

/** @throws CommandError if the target's URL, or the secret in the scheme, is invalid */
export function signDelivery(
  target: Target,
  { scheme, settings, ...webhook }: UnsignedWebhook,
  sentAt: Date,
): SignedDelivery {
  const url = urlOf(target)
  const inUse = useScheme(scheme, { publicUrl: url, ...settings })
  const key = scheme === 'automation' ? readOwnKey(target.secret) : readSchemeKey(inUse.scheme, target.secret)
  if (key === undefined) throw new CommandError(`The signing secret is none of the scheme ${scheme}.`)
  const { secretId } = target
  const timestamp = `${Math.floor(sentAt.getTime() / 1_000)}`
  const headers = signByScheme(inUse, key, { ...webhook, secretId, timestamp, query: '' })
  const type = webhook.isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return { url, headers: { 'content-type': type, ...headers }, body: webhook.body }
}

function urlOf({ url, provider, workspace }: Pick<Target, 'url' | 'provider' | 'workspace'>): string {
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw usageError(`--url must look like http://127.0.0.1:3000, but is ${url}.`)
  const path = [provider, workspace].map(encodeURIComponent).join('/')
  return `${url.replace(/\/+$/, '')}/api/incoming-webhooks/${path}`
}

/** The same delivery with one bit of its body changed after it was signed. */
export function tamperWith({ body, ...delivery }: SignedDelivery): SignedDelivery {
  const changed = Buffer.from(body)
  const middle = changed.length >> 1
  changed[middle] = (changed[middle] ?? 0) ^ 1
  return { ...delivery, body: changed }
}

/** @throws CommandError if there is no response */
export async function sendDelivery({ url, headers, body }: SignedDelivery): Promise<DeliveryResponse> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { method: 'POST', headers, body, signal })
    return { status: response.status, body: readJson(await response.text()) }
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string; message: string } }
    throw new CommandError(
      `No response from ${new URL(url).origin} (${cause?.code ?? cause?.message ?? message}): run npm start first, or set --url.`,
      { cause: error },
    )
  }
}

function readOwnKey(secret: string): Buffer {
  try {
    return readSigningKey(secret)
  } catch (error) {
    throw new CommandError('The signing secret must be whsec_ followed by base64.', { cause: error })
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
