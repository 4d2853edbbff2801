import { setTimeout } from 'node:timers/promises'
import type { Attributes, Context, Link, SpanKind, Tracer } from '@opentelemetry/api'

const closeWithinMs = 2_000

export type Tracing = Awaited<ReturnType<typeof openTracing>>

/** A step of a trace. What came of it is exported when it ends. */
export interface Span {
  /** Its place in its trace, as W3C Trace Context writes it: so it crosses the belt and the wire. */
  readonly traceparent: string
  begin(name: string, kind?: Kind, attributes?: Attributes): Span
  set(attributes: Attributes): void
  /** Only the first end counts. @param hasFailed marks it as an error */
  end(hasFailed?: boolean): void
}

/** `server` and `client` speak HTTP or SMTP, `producer` and `consumer` are the two ends of the belt. */
export type Kind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

/**
 * Traces by OpenTelemetry: to the collector, with the sampler, and under the name that its own OTEL_ variables say. Its
 * packages are loaded here, and so only where tracing is switched on.
 *
 * A span tells of ids, types and outcomes, never of what is in an event.
 *
 * @param name of the service, where OTEL_SERVICE_NAME says nothing
 */
export async function openTracing(name: string, warn: (message: string) => void) {
  const [api, { NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  const told = onceInAWhile(warn)
  const ignore = () => {}
  const logger = { error: told, warn: ignore, info: ignore, debug: ignore, verbose: ignore }
  api.diag.setLogger(logger, { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true })
  const { resourceFromAttributes, detectResources, envDetector } = resources
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': name }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const tracer: Tracer = provider.getTracer('automation-rules')
  const kinds: Record<Kind, SpanKind> = {
    internal: api.SpanKind.INTERNAL,
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    producer: api.SpanKind.PRODUCER,
    consumer: api.SpanKind.CONSUMER,
  }

  return {
    /**
     * Begins a span without one of this process above it.
     *
     * @param parent its place, as another process has sent it; whatever is no traceparent counts as none
     * @param link another place that it has to do with
     */
    begin(
      name: string,
      kind: Kind,
      { parent, link, attributes = {} }: { parent?: unknown; link?: unknown; attributes?: Attributes },
    ): Span {
      const above = readPlace(parent)
      const linked = readPlace(link)
      const context = above ? api.trace.setSpanContext(api.ROOT_CONTEXT, above) : api.ROOT_CONTEXT
      return begin(name, kind, attributes, context, linked ? [{ context: linked }] : [])
    },
    /** Sends what is left. A collector that is away keeps no process from its end. */
    async close(): Promise<void> {
      await Promise.race([provider.shutdown(), setTimeout(closeWithinMs, undefined, { ref: false })]).catch(
        ignore,
      )
    },
  }

  function begin(
    name: string,
    kind: Kind,
    attributes: Attributes,
    context: Context,
    links: Link[] = [],
  ): Span {
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes, links }, context)
    const { traceId, spanId, traceFlags } = span.spanContext()
    const own = api.trace.setSpan(context, span)
    let isOver = false
    return {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      begin: (name, kind = 'internal', attributes = {}) => begin(name, kind, attributes, own),
      set: (attributes) => void span.setAttributes(attributes),
      end(hasFailed = false) {
        if (isOver) return
        isOver = true
        if (hasFailed) span.setStatus({ code: api.SpanStatusCode.ERROR })
        span.end()
      },
    }
  }
}

const traceparentPattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

function readPlace(text: unknown) {
  const [, traceId, spanId, flags] = (typeof text === 'string' && traceparentPattern.exec(text)) || []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

const quietMs = 60_000

/** A collector that is away would otherwise fill the log. */
function onceInAWhile(warn: (message: string) => void): (message: string) => void {
  let quietUntil = 0
  return (message) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    warn(`traces could not be sent: ${readMessage(message)}`)
  }
}

/** OpenTelemetry makes JSON of whatever was thrown. */
function readMessage(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message)
  } catch {
    return text
  }
}
