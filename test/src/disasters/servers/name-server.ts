import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const headerLength = 12
const typeA = 1
/** A response without an error. */
const flags = 0x8180

/** The DNS of a network of its own: each name is 127.0.0.1, for a second. */
export class NameServer {
  readonly #socket = createSocket('udp4')
  /** Whether it lets questions pass without a response. */
  isSilent = false

  static async open(): Promise<NameServer> {
    const server = new NameServer()
    server.#socket.on('message', (question, { port, address }) => {
      if (!server.isSilent) server.#socket.send(respondTo(question), port, address)
    })
    server.#socket.bind(53, '127.0.0.1')
    await once(server.#socket, 'listening')
    return server
  }

  close(): void {
    this.#socket.close()
  }
}

/** For an address of version 4: 127.0.0.1. For all else: there is no such record. */
export function respondTo(question: Buffer): Buffer {
  const end = question.indexOf(0, headerLength) + 5
  const isAddress = question.readUInt16BE(end - 4) === typeA
  const head = Buffer.from(question.subarray(0, end))
  head.writeUInt16BE(flags, 2)
  head.writeUInt16BE(isAddress ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  if (!isAddress) return head
  // The name of the question, type A, class IN, one second, four bytes.
  return Buffer.concat([
    head,
    Buffer.from([0xc0, headerLength, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]),
  ])
}
