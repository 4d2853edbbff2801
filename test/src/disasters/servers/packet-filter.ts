import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Direction } from '../../storm/tcp-proxy.js'

const run = promisify(execFile)

/** Drops packets on their way to a port of this machine, or back from it, as a broken network does: neither end hears of it. */
export class PacketFilter {
  readonly #nft: string

  private constructor(nft: string) {
    this.#nft = nft
  }

  /** @param nft path of the program */
  static async open(nft: string): Promise<PacketFilter> {
    const filter = new PacketFilter(nft)
    await filter.#run('add table inet drill')
    await filter.#run('add chain inet drill input { type filter hook input priority 0; }')
    return filter
  }

  async drop(port: number, direction: Direction): Promise<void> {
    if (direction !== 'back') await this.#run(`add rule inet drill input tcp dport ${port} drop`)
    if (direction !== 'there') await this.#run(`add rule inet drill input tcp sport ${port} drop`)
  }

  /** Drops nothing any more. */
  async passAll(): Promise<void> {
    await this.#run('flush chain inet drill input')
  }

  async #run(command: string): Promise<void> {
    await run(this.#nft, [command])
  }
}
