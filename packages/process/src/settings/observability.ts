import { Type } from 'typebox'

/** The settings of metrics and traces. OpenTelemetry itself reads the other variables that begin with OTEL_. */
export const observability = {
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'port of /metrics for Prometheus; 0 takes any free port; if not set, there are no metrics',
    }),
  ),
  OTEL_TRACES_EXPORTER: Type.Enum(['otlp', 'none'], {
    default: 'none',
    description: 'otlp sends traces to OTEL_EXPORTER_OTLP_ENDPOINT',
  }),
  OTEL_SDK_DISABLED: Type.Boolean({
    default: false,
    description: 'true switches tracing off, with all other settings',
  }),
}

/** The same settings under the names that the code uses. */
export function observabilityOf(environment: Type.Static<Type.TObject<typeof observability>>) {
  return {
    /** undefined: no metrics. */
    metricsPort: environment.METRICS_PORT,
    isTraced: environment.OTEL_TRACES_EXPORTER === 'otlp' && !environment.OTEL_SDK_DISABLED,
  }
}
