import { type Measure, type Metrics, waitBuckets } from './metrics.js'

/**
 * How long requests take, for every process that answers some.
 *
 * @returns what is told of each that was answered. `route` is the pattern of its path; undefined where it fits none, since
 * what callers ask for is theirs to choose.
 */
export function measureRequests(metrics: Metrics) {
  const measures = metrics.measures(
    'automation_http_request_seconds',
    'Requests answered, by the pattern of their path; a synchronous run is waited for',
    waitBuckets,
    ['method', 'route', 'status'],
  )
  const known = new Map<string, Measure>()

  function measureOf(method: string, route: string, status: string): Measure {
    const key = `${status} ${method} ${route}`
    let measure = known.get(key)
    if (measure === undefined) {
      measure = measures(method, route, status)
      known.set(key, measure)
      // There before the first fault: of a series that begins with one, no rate is known.
      measureOf(method, route, '5xx')
    }
    return measure
  }

  return (
    { method, routeOptions }: { method: string; routeOptions: { url?: string | undefined } },
    { statusCode, elapsedTime }: { statusCode: number; elapsedTime: number },
  ): void => {
    const route = routeOptions.url ?? 'none'
    const status = `${Math.trunc(statusCode / 100)}xx`
    measureOf(method, route, status).observe(elapsedTime / 1_000)
  }
}
