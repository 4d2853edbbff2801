import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { findFreePort } from '@automation/launcher'
import { until } from '../../fixtures/product.js'

/** HAProxy in front of the APIs: it sends requests to those whose /readyz says 200. */
export class LoadBalancer {
  readonly url: string
  readonly #process: ChildProcess

  private constructor(url: string, process: ChildProcess) {
    this.url = url
    this.#process = process
  }

  /** @param ports of the APIs, which stay when one is replaced */
  static async open(haproxy: string, directory: string, ports: number[]): Promise<LoadBalancer> {
    return LoadBalancer.openWith(haproxy, directory, (port) => configure(port, ports))
  }

  /** @param write makes the file of its configuration */
  static async openWith(
    haproxy: string,
    directory: string,
    write: (port: number) => string,
  ): Promise<LoadBalancer> {
    const port = await findFreePort()
    const file = `${directory}/haproxy.cfg`
    await writeFile(file, write(port))
    const child = spawn(haproxy, ['-db', '-f', file], { stdio: 'ignore' })
    process.once('exit', () => child.kill('SIGKILL'))
    const balancer = new LoadBalancer(`http://127.0.0.1:${port}`, child)
    await until(async () => (await fetch(`${balancer.url}/healthz`).catch(() => undefined))?.status === 200)
    return balancer
  }

  async close(): Promise<void> {
    const closed = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await closed
  }
}

function configure(port: number, ports: number[]): string {
  const servers = ports.map((one) => `  server api-${one} 127.0.0.1:${one} check inter 500ms fall 1 rise 1`)
  return `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  retries 3
  option redispatch
frontend address
  bind 127.0.0.1:${port}
  default_backend apis
backend apis
  balance roundrobin
  option httpchk GET /readyz
${servers.join('\n')}
`
}
