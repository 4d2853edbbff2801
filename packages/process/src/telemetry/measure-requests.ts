import type { Histogram } from 'prom-client'
import { type Metrics, waitBuckets } from './metrics.js'

type Labels = 'method' | 'route' | 'status'

/**
 * Measures the duration of requests, in every process that serves HTTP.
 *
 * @returns a function to call with each request and its response. The label `route` is the pattern of the path, or `none`
 * if no route matches: callers choose their paths, and a series for each would grow without bound.
 */
export function measureRequests(metrics: Metrics) {
  const createHistogram = metrics.histograms<Labels>(
    'automation_http_request_seconds',
    'Duration of HTTP requests in seconds, by method, path pattern and status class; includes the time that a synchronous trigger waits for its outcome',
    waitBuckets,
    ['method', 'route', 'status'],
  )
  const histograms = new Map<string, Histogram.Internal<Labels>>()

  function histogramOf(method: string, route: string, status: string): Histogram.Internal<Labels> {
    const key = `${status} ${method} ${route}`
    let histogram = histograms.get(key)
    if (histogram === undefined) {
      histogram = createHistogram(method, route, status)
      histograms.set(key, histogram)
      // The series of server errors must exist before the first error: a series that starts with an error has no rate.
      histogramOf(method, route, '5xx')
    }
    return histogram
  }

  return (
    { method, routeOptions }: { method: string; routeOptions: { url?: string | undefined } },
    { statusCode, elapsedTime }: { statusCode: number; elapsedTime: number },
  ): void => {
    const route = routeOptions.url ?? 'none'
    const status = `${Math.trunc(statusCode / 100)}xx`
    histogramOf(method, route, status).observe(elapsedTime / 1_000)
  }
}
