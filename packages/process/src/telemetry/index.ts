export { createCachedReading } from './cached-reading.js'
export { hideSecrets } from './hide-secrets.js'
export { logLibraries } from './log-libraries.js'
export { logOptions } from './log-options.js'
export { measureRequests } from './measure-requests.js'
export { batchBuckets, type Metrics, openMetrics, waitBuckets } from './metrics.js'
export {
  registerBacklog,
  registerBacktests,
  registerCancellations,
  registerClock,
  registerLeaves,
  registerPool,
  registerQueue,
  registerWaiting,
  registerWorkspaces,
} from './shared-gauges.js'
export { createSharedReading } from './shared-reading.js'
export { openTracing, type Span, type Tracing } from './tracing.js'
