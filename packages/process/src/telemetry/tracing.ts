import { setTimeout } from 'node:timers/promises'
import type { Attributes, Context, Link, SpanKind, Tracer } from '@opentelemetry/api'

const closeWithinMs = 2_000

export type Tracing = Awaited<ReturnType<typeof openTracing>>

/** A span of a trace. It is exported when it ends. */
export interface Span {
  /** Its position in the trace, in the format of W3C Trace Context, for jobs in the queue and outgoing requests. */
  readonly traceparent: string
  begin(name: string, kind?: SpanRole, attributes?: Attributes): Span
  set(attributes: Attributes): void
  /** Only the first call counts. @param hasFailed marks the span as an error */
  end(hasFailed?: boolean): void
}

interface Beginning {
  parent?: unknown
  link?: unknown
  attributes?: Attributes
  elapsedMs?: number
}

/** `server` and `client` speak HTTP or SMTP; `producer` and `consumer` are the two ends of the queue. */
export type SpanRole = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

/**
 * Opens OpenTelemetry tracing. Collector, sampler and service name are set by the OTEL_ variables. Its packages are
 * loaded here, and so only if tracing is switched on.
 *
 * A span carries ids, types and outcomes, and never the data of an event.
 *
 * @param name of the service, if OTEL_SERVICE_NAME is not set
 */
export async function openTracing(name: string, warn: (message: string) => void) {
  const [api, { NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  api.diag.setLogger(openDiagnosticLog(warn), {
    logLevel: api.DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  })
  const { resourceFromAttributes, detectResources, envDetector } = resources
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': name }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const tracer: Tracer = provider.getTracer('automation-rules')
  const kinds: Record<SpanRole, SpanKind> = {
    internal: api.SpanKind.INTERNAL,
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    producer: api.SpanKind.PRODUCER,
    consumer: api.SpanKind.CONSUMER,
  }

  return {
    /**
     * Begins a span that has no parent in this process.
     *
     * @param parent the traceparent that another process sent; any other value counts as none. It decides about sampling, so it must
     *   not come from a stranger
     * @param link the traceparent of a related span; the span stays in a trace of its own
     * @param elapsedMs how long ago it began
     */
    begin(name: string, kind: SpanRole, { parent, link, attributes = {}, elapsedMs }: Beginning): Span {
      const remote = parseTraceparent(parent)
      const linked = parseTraceparent(link)
      const context = remote ? api.trace.setSpanContext(api.ROOT_CONTEXT, remote) : api.ROOT_CONTEXT
      return begin(name, kind, attributes, context, linked ? [{ context: linked }] : [], elapsedMs)
    },
    /** Exports the remaining spans. A collector that is away delays the shutdown by two seconds at most. */
    async close(): Promise<void> {
      await Promise.race([provider.shutdown(), setTimeout(closeWithinMs, undefined, { ref: false })]).catch(
        ignore,
      )
    },
  }

  function begin(
    name: string,
    kind: SpanRole,
    attributes: Attributes,
    context: Context,
    links: Link[] = [],
    elapsedMs = 0,
  ): Span {
    const startTime = Date.now() - elapsedMs
    const startedAt = performance.now() - elapsedMs
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes, links, startTime }, context)
    const { traceId, spanId, traceFlags } = span.spanContext()
    const own = api.trace.setSpan(context, span)
    let hasEnded = false
    return {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      begin: (name, kind = 'internal', attributes = {}) => begin(name, kind, attributes, own),
      set: (attributes) => void span.setAttributes(attributes),
      end(hasFailed = false) {
        if (hasEnded) return
        hasEnded = true
        if (hasFailed) span.setStatus({ code: api.SpanStatusCode.ERROR })
        span.end(startTime + performance.now() - startedAt)
      },
    }
  }
}

const traceparentPattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

function parseTraceparent(text: unknown) {
  const [, traceId, spanId, flags] = (typeof text === 'string' && traceparentPattern.exec(text)) || []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

const ignore = () => {}

/** What OpenTelemetry reports about itself: failed exports, and spans that it dropped because the collector is too slow. */
function openDiagnosticLog(warn: (message: string) => void) {
  const reportFailure = limitWarnings(warn)
  const reportLoss = limitWarnings(warn)
  return {
    error: (message: string) => reportFailure(`traces could not be exported: ${readMessage(message)}`),
    // Its other warnings contain values of settings.
    warn: (message: string) => {
      if (message.startsWith('Dropped ')) reportLoss(`traces are incomplete: ${message}`)
    },
    info: ignore,
    debug: ignore,
    verbose: ignore,
  }
}

const quietMs = 60_000

/** Without a limit, a collector that is away or slow would fill the log. */
function limitWarnings(warn: (message: string) => void): (message: string) => void {
  let quietUntil = 0
  return (message) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    warn(message)
  }
}

/** OpenTelemetry reports a thrown error as JSON. */
function readMessage(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message)
  } catch {
    return text
  }
}
