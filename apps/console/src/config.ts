import {
  baseUrl,
  connections,
  consoleSettings,
  EnvironmentError,
  observability,
  readEnvironment,
  tokenSettings,
  webUrl,
} from '@automation/process/settings'
import { Type } from 'typebox'

export const Environment = Type.Object({
  LOG_LEVEL: connections.LOG_LEVEL,
  METRICS_PORT: observability.METRICS_PORT,
  REDIS_URL: Type.Optional(connections.REDIS_URL),
  QUEUE_PREFIX: connections.QUEUE_PREFIX,
  HOST: Type.String({ default: '127.0.0.1', description: 'address to listen on' }),
  TRUST_PROXY: Type.Optional(
    Type.String({ description: 'comma-separated CIDRs of the proxies whose X-Forwarded-For is trusted' }),
  ),
  CONSOLE_PORT: Type.Integer({
    default: 3003,
    minimum: 0,
    maximum: 65_535,
    description: 'port to listen on; 0 takes any free port',
  }),
  ...consoleSettings,
  BOARD_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'port of the board on this machine; a console that is opened on this machine links to it',
    }),
  ),
  CONSOLE_API_URL: baseUrl({
    default: 'http://127.0.0.1:3000',
    description: 'URL of the API for this process',
  }),
  CONSOLE_TRUST_BEARER: Type.Boolean({
    default: false,
    description:
      'true: a proxy in TRUST_PROXY signs users in and sends their token in Authorization or X-Forwarded-Access-Token',
  }),
  CONSOLE_OIDC_ISSUER: Type.Optional(webUrl({ description: 'issuer URL of your identity provider' })),
  CONSOLE_OIDC_CLIENT_ID: Type.Optional(Type.String({ description: 'client id at the identity provider' })),
  CONSOLE_OIDC_CLIENT_SECRET: Type.Optional(
    Type.String({ description: 'client secret at the identity provider' }),
  ),
  CONSOLE_OIDC_SCOPE: Type.String({
    default: 'openid',
    description: 'scopes to ask for, separated by spaces',
  }),
  JWT_AUDIENCE: tokenSettings.JWT_AUDIENCE,
})

export type Config = ReturnType<typeof readConfig>

/** @throws EnvironmentError that lists all faults at once */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const environment = readEnvironment(Environment, variables)
  const url = new URL(environment.CONSOLE_URL)
  const faults = [...findUrlFaults(url), ...findBearerFaults(environment)]
  const oidc = readOidc(environment, faults)
  if (faults.length > 0) throw new EnvironmentError(faults)
  return {
    logLevel: environment.LOG_LEVEL,
    /** undefined: no metrics. */
    metricsPort: environment.METRICS_PORT,
    /** undefined: used links, ended sessions and renewed tokens are known to this process alone. */
    redisUrl: environment.REDIS_URL,
    queuePrefix: environment.QUEUE_PREFIX,
    host: environment.HOST,
    port: environment.CONSOLE_PORT,
    url,
    apiUrl: environment.CONSOLE_API_URL.replace(/\/+$/, ''),
    secret: environment.CONSOLE_SECRET,
    trustsBearer: environment.CONSOLE_TRUST_BEARER,
    trustProxy: environment.TRUST_PROXY?.split(',').map((cidr) => cidr.trim()) ?? false,
    /** undefined: it is not known. Behind a proxy the board has a host name of its own. */
    boardUrl:
      isLocal(url) && environment.BOARD_PORT ? `http://${url.hostname}:${environment.BOARD_PORT}` : undefined,
    /** undefined: users do not sign in with an identity provider. */
    oidc,
  }
}

type Settings = Type.Static<typeof Environment>

/** A cookie without Secure travels in the clear: only where it does not leave the machine. */
function findUrlFaults(url: URL): string[] {
  return url.protocol === 'https:' || isLocal(url)
    ? []
    : ['CONSOLE_URL must begin with https://, unless its host is 127.0.0.1, [::1] or localhost']
}

function isLocal({ hostname }: URL): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)
}

function findBearerFaults({ CONSOLE_TRUST_BEARER, TRUST_PROXY }: Settings): string[] {
  return CONSOLE_TRUST_BEARER && TRUST_PROXY === undefined
    ? ['TRUST_PROXY is required with CONSOLE_TRUST_BEARER: whose header is to be trusted?']
    : []
}

function readOidc(settings: Settings, faults: string[]) {
  const { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: clientId } = settings
  const { CONSOLE_OIDC_CLIENT_SECRET: clientSecret } = settings
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    faults.push(
      'CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID and CONSOLE_OIDC_CLIENT_SECRET must be set together',
    )
    return undefined
  }
  return {
    issuer: new URL(issuer),
    clientId,
    clientSecret,
    scope: settings.CONSOLE_OIDC_SCOPE,
    /** The resource (RFC 8707) that a token is asked for: a URI. Providers without resources have an audience of another kind. */
    audience: URL.canParse(settings.JWT_AUDIENCE) ? settings.JWT_AUDIENCE : undefined,
  }
}
