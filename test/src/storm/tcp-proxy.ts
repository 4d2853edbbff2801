import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Which way nothing passes: to the server, back from it, or both. */
export type Direction = 'there' | 'back' | 'both'

/** What a line goes mute at: a text on its way to the server, which itself arrives (`after`) or not (`before`). */
export interface Trigger {
  text: string
  moment: 'before' | 'after'
  direction: Direction
}

/** A line to a server that can be made as bad as lines are. */
export interface TcpProxy {
  port: number
  /** How many connections it has accepted so far. */
  accepted(): number
  /** From now on each piece of data comes so much later (ms), in its order; 0 is a good line again. */
  setLatency(ms: number): void
  /** Connections are accepted, and nothing passes in either direction; what was said meanwhile arrives at the end of it. */
  setBlackHole(isOn: boolean): void
  /** The same, and in one direction alone if wanted, until `heal`. */
  mute(direction: Direction): void
  /** The connections that there are pass nothing any more, and nobody hears of their end; new ones are good. */
  muteForGood(): void
  /** Leads new connections to this port of 127.0.0.1 instead; undefined is the usual one. */
  leadTo(port: number | undefined): void
  /** Goes mute when the text passes next; resolves then. `heal` takes it back, too. */
  muteAt(trigger: Trigger): Promise<void>
  heal(): void
  /** When the text passes next, the server gets it, its response is lost, and the connection is reset. Resolves then. */
  loseResponseTo(text: string): Promise<void>
  /** Ends every connection with a reset. Answers how many there were. */
  reset(): number
  close(): Promise<void>
}

/** @param targetPort on 127.0.0.1; nobody has to listen there all the time */
export async function openTcpProxy(targetPort: () => number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const relays = new Set<Relay>()
  let accepted = 0
  let latencyMs = 0
  let muted: Direction | undefined
  let trigger: (Trigger & { reached(): void }) | undefined
  let elsewhere: number | undefined
  let losing: { text: string; reached(): void } | undefined

  const server = createServer((near) => {
    accepted++
    const far = connect(elsewhere ?? targetPort(), '127.0.0.1')
    let lose: (() => void) | undefined
    const there = new Relay(
      near,
      far,
      () => latencyMs,
      isMuteTo('there'),
      (data, pass) => {
        lose ??= findLoss(data)
        watch(data, pass)
      },
    )
    const back = new Relay(
      far,
      near,
      () => latencyMs,
      isMuteTo('back'),
      () => {
        if (lose === undefined) return
        back.isDead = true
        near.resetAndDestroy()
        far.destroy()
        lose()
      },
    )
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('close', () => sockets.delete(socket))
    }
    for (const relay of [there, back]) {
      relays.add(relay)
      relay.to.on('close', () => relays.delete(relay))
    }
    // Nobody there to answer: the caller is to see a connection that breaks, and not one that is closed in peace.
    far.on('error', () => near.resetAndDestroy())
    near.on('error', () => far.resetAndDestroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    accepted: () => accepted,
    setLatency(ms) {
      latencyMs = ms
    },
    setBlackHole: (isOn) => (isOn ? proxy.mute('both') : proxy.heal()),
    mute(direction) {
      muted = direction
    },
    leadTo(port) {
      elsewhere = port
    },
    muteForGood() {
      for (const relay of relays) relay.isDead = true
    },
    muteAt: (wanted) =>
      new Promise((reached) => {
        trigger = { ...wanted, reached }
      }),
    heal() {
      muted = undefined
      trigger = undefined
      losing = undefined
      for (const relay of relays) relay.passDue()
    },
    loseResponseTo: (text) =>
      new Promise((reached) => {
        losing = { text, reached }
      }),
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
  return proxy

  function isMuteTo(direction: Direction): () => boolean {
    return () => muted === 'both' || muted === direction
  }

  /** @returns what tells that the response to this data is lost */
  function findLoss(data: Buffer): (() => void) | undefined {
    if (losing === undefined || !data.includes(losing.text)) return undefined
    const { reached } = losing
    losing = undefined
    return reached
  }

  /** Of what goes to the server. @param pass lets it through before the line goes mute */
  function watch(data: Buffer, pass: () => void): void {
    if (trigger === undefined || !data.includes(trigger.text)) return
    const { moment, direction, reached } = trigger
    trigger = undefined
    if (moment === 'after') pass()
    proxy.mute(direction)
    reached()
  }
}

/** Hands on what comes in, and at last its end, after the latency of that moment, and never before what came earlier. */
class Relay {
  readonly to: Socket
  /** Loses what comes in, and its end. */
  isDead = false
  readonly #pending: { at: number; data: Buffer | undefined }[] = []
  readonly #latency: () => number
  readonly #isMute: () => boolean
  #timer: NodeJS.Timeout | undefined

  /** @param watch sees each piece before it is handed on */
  constructor(
    from: Socket,
    to: Socket,
    latency: () => number,
    isMute: () => boolean,
    watch: (data: Buffer, pass: () => void) => void = () => {},
  ) {
    this.to = to
    this.#latency = latency
    this.#isMute = isMute
    from.on('data', (data) => {
      let isPassed = false
      watch(data, () => {
        isPassed = true
        this.#take(data)
      })
      if (!isPassed) this.#take(data)
    })
    from.on('end', () => this.#take(undefined))
    // Not where `from` has closed: what a process said before it was killed is still on its way.
    to.on('close', () => clearTimeout(this.#timer))
  }

  #take(data: Buffer | undefined): void {
    if (this.isDead) return
    const latencyMs = this.#latency()
    if (this.#pending.length === 0 && latencyMs === 0 && !this.#isMute()) this.#pass(data)
    else {
      this.#pending.push({ at: performance.now() + latencyMs, data })
      this.#timer ??= setTimeout(() => this.passDue(), latencyMs)
    }
  }

  /** To be called when the line is not mute any more. */
  passDue(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      if (this.#isMute()) return
      const waitMs = first.at - performance.now()
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.passDue(), waitMs)
        return
      }
      this.#pending.shift()
      this.#pass(first.data)
    }
  }

  #pass(data: Buffer | undefined): void {
    if (!this.to.writable) return
    if (data === undefined) this.to.end()
    else this.to.write(data)
  }
}
