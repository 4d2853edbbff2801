import { isIP } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Config } from '../config.js'
import { type AddressGuard, createAddressGuard, hostOf, RefusedCall } from './address-guard.js'
import { createResolver, type ResolveHost } from './create-resolver.js'
import { failed } from './effect.js'
import { GuardedAgent } from './guarded-agent.js'
import { createGuardedConnector } from './guarded-connector.js'

export interface HttpRequest {
  method: 'POST' | 'PUT' | 'PATCH' | 'GET' | 'DELETE'
  headers: Record<string, string>
  body: string | Buffer | null
  /** Whether the receiver may get the call twice (guarded-agent.ts). */
  mayRepeat: boolean
  /** Whether it has a secret, which nobody between the two may read. */
  isSecret?: boolean
}

/** Why there is no response: one line of at most 500 characters. */
export interface CallFault {
  fault: string
  /** Whether another attempt cannot help. */
  isFinal: boolean
}

const noAnswer = 'Timed out after'

/** Makes HTTP calls to what the guard allows. It reaches no private address, follows no redirect, and ends each call in time. */
export class HttpCaller {
  readonly #guard: AddressGuard
  readonly #resolveHost: ResolveHost
  readonly #agent: GuardedAgent

  constructor(outbound: Config['outbound'], resolveHost: ResolveHost = createResolver()) {
    this.#guard = createAddressGuard(outbound)
    this.#resolveHost = resolveHost
    this.#agent = new GuardedAgent(createGuardedConnector(this.#guard, resolveHost))
  }

  readUrl(text: string): URL | RefusedCall {
    return this.#guard.readUrl(text)
  }

  /**
   * @param url by `readUrl`
   * @param noteCause gets an error that names an address, which the tenant's fault leaves out
   */
  async call<Result>(
    url: URL,
    { isSecret = false, ...request }: HttpRequest,
    time: { timeoutMs: number; spentMs?: number },
    readResponse: (response: Dispatcher.ResponseData) => Promise<Result>,
    noteCause: (cause: Error) => void,
  ): Promise<{ result: Result } | CallFault> {
    try {
      const result = await within(time, async (signal) => {
        if (isSecret && url.protocol === 'http:') await this.#refusePlain(url)
        return this.#agent.call(url, request, signal, readResponse)
      })
      return { result }
    } catch (error) {
      // Several addresses were tried: the fault of the first one stands for all.
      const cause: unknown = error instanceof AggregateError ? error.errors[0] : error
      if (namesAddress(cause)) noteCause(cause)
      const isFinal = cause instanceof RefusedCall
      return { fault: isFinal ? failed(cause).error : describeFault(cause, hostOf(url)), isFinal }
    }
  }

  close(): void {
    this.#agent.close()
  }

  /** Without TLS a secret only goes to addresses that the operator has opened. The connector looks the name up again: another answer is its owner's. */
  async #refusePlain({ hostname }: URL): Promise<void> {
    const host = hostname.replace(/^\[|\]$/g, '')
    const addresses = isIP(host) === 0 ? await this.#resolveHost(host) : [host]
    if (!addresses.every((address) => this.#guard.isOpened(address)))
      throw new RefusedCall('Credentials are sent over https only')
  }
}

async function within<Result>(
  { timeoutMs, spentMs = 0 }: { timeoutMs: number; spentMs?: number },
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = () => new Error(`${noAnswer} ${timeoutMs} ms`)
  if (spentMs >= timeoutMs) throw late()
  const controller = new AbortController()
  const cancel = () => controller.abort(late())
  const timer = setTimeout(cancel, timeoutMs - spentMs)
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
