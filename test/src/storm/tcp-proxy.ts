import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A line to a server that can be made as bad as lines are. */
export interface TcpProxy {
  port: number
  /** From now on each piece of data comes so much later (ms), in its order; 0 is a good line again. */
  setLatency(ms: number): void
  /** Connections are accepted, and nothing passes in either direction; what was said meanwhile arrives at the end of it. */
  setBlackHole(isOn: boolean): void
  /** Ends every connection with a reset. Answers how many there were. */
  reset(): number
  close(): Promise<void>
}

/** @param targetPort on 127.0.0.1; nobody has to listen there all the time */
export async function openTcpProxy(targetPort: () => number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let latencyMs = 0
  let isBlackHole = false

  const server = createServer((near) => {
    const far = connect(targetPort(), '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      relay(from, to, () => latencyMs)
      if (isBlackHole) from.pause()
    }
    // Nobody there to answer: the caller is to see a connection that breaks, and not one that is closed in peace.
    far.on('error', () => near.resetAndDestroy())
    near.on('error', () => far.resetAndDestroy())
    far.on('close', () => sockets.delete(far))
    near.on('close', () => sockets.delete(near))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    setLatency(ms) {
      latencyMs = ms
    },
    setBlackHole(isOn) {
      isBlackHole = isOn
      for (const socket of sockets) isOn ? socket.pause() : socket.resume()
    },
    reset() {
      const count = sockets.size / 2
      for (const socket of sockets) socket.resetAndDestroy()
      return count
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Hands on what comes in, and at last its end, after the latency of that moment, and never before what came earlier. */
function relay(from: Socket, to: Socket, latency: () => number): void {
  const pending: { at: number; data: Buffer | undefined }[] = []
  let timer: NodeJS.Timeout | undefined
  from.on('data', (data) => take(data))
  from.on('end', () => take(undefined))
  // Not where `from` has closed: what a process said before it was killed is still on its way.
  to.on('close', () => clearTimeout(timer))

  function take(data: Buffer | undefined): void {
    const latencyMs = latency()
    if (pending.length === 0 && latencyMs === 0) pass(data)
    else {
      pending.push({ at: performance.now() + latencyMs, data })
      timer ??= setTimeout(passDue, latencyMs)
    }
  }

  function passDue(): void {
    timer = undefined
    for (let first = pending[0]; first !== undefined; first = pending[0]) {
      const waitMs = first.at - performance.now()
      if (waitMs > 0) {
        timer = setTimeout(passDue, waitMs)
        return
      }
      pending.shift()
      pass(first.data)
    }
  }

  function pass(data: Buffer | undefined): void {
    if (!to.writable) return
    if (data === undefined) to.end()
    else to.write(data)
  }
}
