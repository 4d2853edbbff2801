import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof openMetrics>

/** Counts what happened. */
export interface Count {
  inc(by?: number): void
}
/** Takes note of how long something took (seconds), or how large it was. */
export interface Measure {
  observe(value: number): void
}

/**
 * What a process tells of itself to Prometheus. Noting costs some 100 ns, so that there is no switch for it; only the listener,
 * and with it what Node tells of itself, is there where somebody asks.
 *
 * Names begin with `automation_` and end in their unit. Values of labels are known before: a series for each of them is there
 * from the start, and none is ever a workspace, a rule or anything else that others make more of.
 */
export function openMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const server = createServer(async ({ url, method }, response) => {
    if (url?.split('?')[0] !== '/metrics') return void response.writeHead(404).end()
    if (method !== 'GET') return void response.writeHead(405, { allow: 'GET' }).end()
    try {
      const text = await registry.metrics()
      response.writeHead(200, { 'content-type': registry.contentType }).end(text)
    } catch {
      response.writeHead(500).end()
    }
  })

  return {
    count(name: string, help: string): Count {
      return new Counter({ name, help, registers })
    },
    /** One count for each value of a label. */
    counts<Value extends string>(
      name: string,
      help: string,
      label: string,
      values: readonly Value[],
    ): Record<Value, Count> {
      const counter = new Counter({ name, help, registers, labelNames: [label] })
      return eachOf(values, (value) => {
        const one = counter.labels(value)
        one.inc(0)
        return one
      })
    },
    measure(name: string, help: string, buckets: number[]): Measure {
      return new Histogram({ name, help, buckets, registers })
    },
    /** Answers the one measure of some values of labels; ask once and keep it. */
    measures<Label extends string>(
      name: string,
      help: string,
      buckets: number[],
      labels: readonly Label[],
    ): (...values: string[]) => Measure {
      const histogram = new Histogram({ name, help, buckets, registers, labelNames: labels })
      return (...values) => {
        histogram.zero(Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ''])) as never)
        return histogram.labels(...values)
      }
    },
    /** @param read is asked at each scrape, and must not throw; NaN where it cannot be told */
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read())
        },
      })
    },
    /** @param read is asked at each scrape, and must not throw; what it leaves out is not told */
    gauges<Value extends string>(
      name: string,
      help: string,
      label: string,
      read: () => Partial<Record<Value, number>> | Promise<Partial<Record<Value, number>>>,
    ): void {
      new Gauge({
        name,
        help,
        registers,
        labelNames: [label],
        async collect() {
          const values = await read()
          this.reset()
          for (const [value, number] of Object.entries<number | undefined>(values))
            if (number !== undefined) this.labels(value).set(number)
        },
      })
    },
    /**
     * Answers `GET /metrics`, and nothing else.
     *
     * @param port 0 takes any free one
     * @returns the port
     * @throws where the port is taken
     */
    async listen(port: number, host: string): Promise<number> {
      collectDefaultMetrics({ register: registry })
      await once(server.listen(port, host), 'listening')
      return (server.address() as AddressInfo).port
    },
    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** From a millisecond to a minute (seconds): for what a caller or a target is waited for. */
export const waitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** For how many went together. */
export const batchBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500]

function eachOf<Name extends string, Thing>(
  names: readonly Name[],
  make: (name: Name) => Thing,
): Record<Name, Thing> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Thing>
}
