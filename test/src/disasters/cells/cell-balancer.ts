import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { LoadBalancer } from '../servers/load-balancer.js'

/** HAProxy in front of two cells, as docs/operate/cells.md has it: a map says which workspaces the second one has. */
export class CellBalancer {
  readonly url: string
  readonly #balancer: LoadBalancer
  readonly #directory: string

  private constructor(balancer: LoadBalancer, directory: string) {
    this.url = balancer.url
    this.#balancer = balancer
    this.#directory = directory
  }

  static async open(
    haproxy: string,
    directory: string,
    first: number,
    second: number,
  ): Promise<CellBalancer> {
    await writeFile(`${directory}/cells.map`, '')
    const balancer = await LoadBalancer.openWith(
      haproxy,
      directory,
      (port) => `global
  stats socket ${directory}/admin.sock level admin
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend address
  bind 127.0.0.1:${port}
  http-request set-var(txn.workspace) req.hdr(x-workspace-id)
  http-request set-var(txn.workspace) path,field(5,/) if { path_beg /api/incoming-webhooks/ }
  http-request set-var(txn.workspace) path,field(3,/) if { path_beg /decide/ }
  use_backend %[var(txn.workspace),lower,map(${directory}/cells.map,first)]
  default_backend first
backend first
  server api 127.0.0.1:${first}
backend second
  server api 127.0.0.1:${second}
`,
    )
    return new CellBalancer(balancer, directory)
  }

  /** From the next request on. */
  async lead(workspaceId: string): Promise<void> {
    const socket = connect(`${this.#directory}/admin.sock`)
    socket.end(`add map ${this.#directory}/cells.map ${workspaceId} second\n`)
    const said = (await text(socket)).trim()
    if (said !== '') throw new Error(`HAProxy says: ${said}`)
  }

  close(): Promise<void> {
    return this.#balancer.close()
  }
}
