import { networkInterfaces } from 'node:os'
import { everywhere } from '../servers/ports.js'

// The settings of .env.example that change the demo and reach nothing outside that its own rules do not call.
const tuning = [
  ...['LOG_LEVEL', 'START_TIMEOUT', 'METRICS_PORT', 'RULE_WORK', 'EVENT_WORK'],
  ...[
    'BODY_LIMIT',
    'BODIES_IN_FLIGHT',
    'TRUST_PROXY',
    'TRUST_TRACEPARENT',
    'DATABASE_POOL',
    'DOCS',
    'DRAIN_SECONDS',
  ],
  ...['RATE_LIMIT_ANONYMOUS', 'RATE_LIMIT_AUTHENTICATED', 'RATE_LIMIT_ENTERPRISE'],
  ...['RATE_LIMIT_WORKSPACE', 'RATE_LIMIT_CREATOR', 'WORKSPACES_PER_CREATOR'],
  ...[
    'READ_POOL',
    'READS_PER_WORKSPACE',
    'READ_TIMEOUT',
    'JUDGING_TIMEOUT',
    'JUDGING_WORK',
    'JUDGING_MEMORY',
  ],
  ...['WORKER_CONCURRENCY', 'WORKSPACE_WORK', 'EVENT_DESCENDANTS', 'EMITTED_PER_MINUTE', 'MAIL_FROM'],
  ...['OUTBOUND_ALLOW', 'OUTBOUND_PORTS', 'OUTBOUND_HOSTS', 'OUTBOUND_CONCURRENCY'],
  ...['BOARD_WRITES'],
]
/** The settings that belong to a product in production, with what the demo does instead. */
const refused: Record<string, string> = {
  CONSOLE_URL: 'its console is on 127.0.0.1',
  CONSOLE_HOST: 'its console is on 127.0.0.1',
  CONSOLE_SECRET: 'it keeps a secret of its own',
  CONSOLE_API_URL: 'its console uses its API',
  CONSOLE_SESSION_HOURS: 'its sessions last 30 days',
  CONSOLE_TRUST_BEARER: 'it has no proxy',
  CONSOLE_OIDC_ISSUER: 'it signs its own tokens',
  CONSOLE_OIDC_CLIENT_ID: 'it signs its own tokens',
  CONSOLE_OIDC_CLIENT_SECRET: 'it signs its own tokens',
  CONSOLE_OIDC_SCOPE: 'it signs its own tokens',
  CONSOLE_OIDC_AUDIENCE: 'it signs its own tokens',
  SMTP_URL: 'mails are written to files',
  MAIL_DIR: 'mails are written to mail/ beside its data',
  RETENTION_DAYS: 'it keeps its history for the default time',
  TASK_RETENTION_DAYS: 'it keeps its tasks for the default time',
  AUDIT_RETENTION_DAYS: 'it keeps its audit log for the default time',
  QUEUE_PREFIX: 'its queue has a name of its own',
  JWKS_URL: 'it signs its own tokens',
  JWT_ISSUER: 'it signs its own tokens',
  JWT_AUDIENCE: 'it signs its own tokens',
}

/** What `npm start` takes over from the shell, for API, worker and board. */
export interface DemoSettings {
  /** The address on which API and board listen. */
  host: string
  env: Record<string, string>
  /** One sentence for each variable that the demo does not follow. */
  remarks: string[]
}

export function readDemoSettings(variables: NodeJS.ProcessEnv): DemoSettings {
  const set = Object.entries(variables).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const isTuning = (name: string) => tuning.includes(name) || name.startsWith('OTEL_')
  const ignored = set.flatMap(([name]) =>
    refused[name] === undefined ? [] : [`${name} is not used by the demo: ${refused[name]}.`],
  )
  const { HOST: host = '' } = variables
  const isUsable = host === '' || isAddressHere(host)
  const remark = `HOST is ${host}, which is no address of this machine: API and board listen on 127.0.0.1.`
  return {
    host: isUsable && host !== '' ? host : '127.0.0.1',
    env: Object.fromEntries(set.filter(([name]) => isTuning(name))),
    remarks: isUsable ? ignored : [...ignored, remark],
  }
}

/** Some shells and compilers export HOST as the name of a machine or of a platform. */
function isAddressHere(host: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
  return host === 'localhost' || everywhere.includes(host) || own.includes(host)
}
