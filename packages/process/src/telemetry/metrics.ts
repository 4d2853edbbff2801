import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Opens the metrics of one process. Call `listen` to serve them, and `close` at the end. */
export function openMetrics(): Metrics {
  return new Metrics()
}

/**
 * The metrics of one process for Prometheus: a registry, its listener, and the kinds of series that prom-client lacks.
 * Plain counters and histograms are made by prom-client itself, with `registers`.
 *
 * A count costs some 100 ns, so metrics are always collected. Only the listener, and with it Node's own metrics, depend
 * on a setting.
 *
 * Names begin with `automation_` and end in their unit. The values of a label are fixed in advance: each of them has a
 * series from the start, and none is a workspace, a rule or anything else that users create without bound.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #server: Server
  /** The option that registers a metric of prom-client here. */
  readonly registers = [this.#registry]

  constructor() {
    this.#server = createServer((request, response) => this.#respond(request, response))
  }

  /** One counter for each value of a label, all at 0 from the start. */
  counters<Value extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly Value[],
  ): Record<Value, Counter.Internal> {
    const counter = new Counter({ name, help, registers: this.registers, labelNames: [label] })
    const entries = values.map((value) => {
      const labelled = counter.labels(value)
      labelled.inc(0)
      return [value, labelled]
    })
    return Object.fromEntries(entries)
  }

  /** Returns a function that makes the histogram for some label values, empty from the start. Call it once and keep the result. */
  histograms<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labels: readonly Label[],
  ): (...values: string[]) => Histogram.Internal<Label> {
    const histogram = new Histogram({ name, help, buckets, registers: this.registers, labelNames: labels })
    return (...values) => {
      histogram.zero(Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])) as never)
      return histogram.labels(...values)
    }
  }

  /** @param read is called at each scrape and must not throw; it returns NaN if the value is unknown */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers: this.registers,
      async collect() {
        this.set(await read())
      },
    })
  }

  /** @param read is called at each scrape and must not throw; a value that it leaves out has no series then */
  gauges<Value extends string>(
    name: string,
    help: string,
    label: string,
    read: () => Partial<Record<Value, number>> | Promise<Partial<Record<Value, number>>>,
  ): void {
    new Gauge({
      name,
      help,
      registers: this.registers,
      labelNames: [label],
      async collect() {
        const values = await read()
        this.reset()
        for (const [value, number] of Object.entries<number | undefined>(values))
          if (number !== undefined) this.labels(value).set(number)
      },
    })
  }

  /**
   * Serves `GET /metrics` and nothing else.
   *
   * @param port 0 takes any free port
   * @returns the port
   * @throws if the port is taken
   */
  async listen(port: number, host: string): Promise<number> {
    collectDefaultMetrics({ register: this.#registry })
    await once(this.#server.listen(port, host), 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #respond({ url, method }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (url?.split('?')[0] !== '/metrics') return void response.writeHead(404).end()
    if (method !== 'GET') return void response.writeHead(405, { allow: 'GET' }).end()
    try {
      const text = await this.#registry.metrics()
      response.writeHead(200, { 'content-type': this.#registry.contentType }).end(text)
    } catch {
      response.writeHead(500).end()
    }
  }
}

/** From a millisecond to a minute (seconds): for the time that a caller or a called server takes. */
export const waitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** For sizes of batches. */
export const batchBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500]
