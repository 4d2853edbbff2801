import {
  connections,
  connectionsOf,
  observability,
  observabilityOf,
  originUrl,
  readEnvironment,
  retention,
  sealing,
  serverUrl,
} from '@automation/process/settings'
import { Type } from 'typebox'
import { readCidr, readHost, readList, readPortRange } from './outbound-settings.js'

export const Environment = Type.Object({
  ...connections,
  ...observability,
  ...sealing,
  WORKER_CONCURRENCY: Type.Integer({
    default: 12,
    minimum: 1,
    maximum: 1_000,
    description: 'number of jobs that run at a time, each with up to 100 events',
  }),
  ...retention,
  HOST: Type.String({ default: '127.0.0.1', description: 'address that the probes and /metrics listen on' }),
  PROBE_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'port of /healthz and /readyz; 0 takes any free port; if not set, there are no probes',
    }),
  ),
  DATABASE_POOL: Type.Integer({
    default: 6,
    // The sweeper and retention each hold a transaction for seconds.
    minimum: 4,
    maximum: 200,
    description: 'connections to Postgres, a third of them for transactions; leases use one more',
  }),
  SMTP_URL: Type.Optional(
    serverUrl(
      /^(smtps?:\/\/[^/?#]|file:\/\/\/)/,
      { description: 'smtp://user:password@host:587, or file:///directory for mails as .eml files' },
      ({ protocol, pathname }) => protocol !== 'file:' || !/%2f/i.test(pathname),
    ),
  ),
  MAIL_FROM: Type.String({
    default: 'Automation rules <automation@localhost>',
    description: 'sender of all mail',
  }),
  OUTBOUND_ALLOW: Type.Optional(
    listOf(readCidr, 'CIDRs such as 10.0.0.0/8', {
      description: 'private addresses that outbound calls may reach',
    }),
  ),
  OUTBOUND_PORTS: listOf(readPortRange, 'ports or ranges such as 8000-8999', {
    default: '80,443,8443',
    description: 'ports that outbound calls may reach',
  }),
  OUTBOUND_HOSTS: Type.Optional(
    listOf(readHost, 'host names such as example.com or *.example.com', {
      description: 'the only hosts that outbound calls may reach; if not set, any host',
    }),
  ),
  OUTBOUND_CONCURRENCY: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 10_000,
    description: 'number of outbound calls at a time, including mail',
  }),
  CONSOLE_URL: Type.Optional(
    originUrl({
      description: 'URL under which browsers open the console; events to subscriptions link to it',
    }),
  ),
})

export type Config = ReturnType<typeof readConfig>

/** @throws EnvironmentError that lists all faults at once */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const environment = readEnvironment(Environment, variables)
  const { OUTBOUND_ALLOW, OUTBOUND_PORTS, OUTBOUND_HOSTS } = environment
  return {
    ...connectionsOf(environment),
    observability: observabilityOf(environment),
    probes: { host: environment.HOST, port: environment.PROBE_PORT },
    databasePool: environment.DATABASE_POOL,
    concurrency: environment.WORKER_CONCURRENCY,
    retentionDays: environment.RETENTION_DAYS,
    encryptionKey: environment.ENCRYPTION_KEY,
    mail: { url: environment.SMTP_URL, from: environment.MAIL_FROM },
    outbound: {
      allow: (OUTBOUND_ALLOW && readList(OUTBOUND_ALLOW, readCidr)) || [],
      ports: readList(OUTBOUND_PORTS, readPortRange) ?? [],
      /** undefined: any host. */
      hosts: OUTBOUND_HOSTS === undefined ? undefined : readList(OUTBOUND_HOSTS, readHost),
      concurrency: environment.OUTBOUND_CONCURRENCY,
      consoleUrl: environment.CONSOLE_URL,
    },
  }
}

function listOf(
  readItem: (text: string) => unknown,
  expected: string,
  options: { description: string; default?: string },
) {
  return Type.Refine(
    Type.String(options),
    (text) => readList(text, readItem) !== undefined,
    () => `must be comma-separated ${expected}`,
  )
}
