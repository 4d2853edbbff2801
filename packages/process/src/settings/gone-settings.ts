/** Names that were settings, and what holds instead. A process that is started with one of them ends: its operator relies on it. */
const goneSettings: Record<string, string> = {
  START_TIMEOUT: 'a process waits 60 s for its servers, and its supervisor starts it again',
  RULE_WORK: 'the conditions of a rule may cost 1,000,000 cost units per event',
  EVENT_WORK: 'the conditions of all rules of an event may cost 6,000,000 cost units',
  WORKSPACE_WORK: 'an owner of workspaces whose events take more than 5 ms has one at a time in each worker',
  JUDGING_TIMEOUT: 'a question of a caller ends after 1 s',
  JUDGING_WORK: 'a question of a caller may cost 20,000,000 cost units',
  JUDGING_MEMORY: 'the process that evaluates for callers has a heap of 192 MB',
  BODIES_IN_FLIGHT: 'request bodies take 32 MiB at a time, or four times BODY_LIMIT',
  READ_POOL: 'queries of callers have two connections for five of DATABASE_POOL',
  READS_PER_WORKSPACE: 'queries of one owner use half of the connections for queries',
  READ_TIMEOUT: 'a query of a caller ends after 2 s',
  RATE_LIMIT_WORKSPACE: 'a workspace has ten times RATE_LIMIT_AUTHENTICATED or RATE_LIMIT_ENTERPRISE',
  RATE_LIMIT_CREATOR:
    'the workspaces of a creator have thirty times RATE_LIMIT_AUTHENTICATED or RATE_LIMIT_ENTERPRISE',
  WORKSPACES_PER_CREATOR: 'a user creates 100 workspaces through the API, and npm run admin creates more',
  EVENT_DESCENDANTS: 'an event may cause 1,000 events by EMIT_EVENT',
  EMITTED_PER_MINUTE: 'the rules of a workspace may emit 10,000 events per minute in one worker',
  TASK_RETENTION_DAYS: 'tasks are kept for 400 days, or RETENTION_DAYS if that is longer',
  AUDIT_RETENTION_DAYS: 'the audit log is kept for 400 days, or RETENTION_DAYS if that is longer',
  TRUST_TRACEPARENT:
    'callers with permissions continue their traces; let your proxy remove traceparent otherwise',
  DOCS: 'the API serves /docs; let your proxy refuse it otherwise',
  MAIL_DIR: 'SMTP_URL=file:///directory writes mails to a directory',
  BOARD_USER: 'the user of the board is operator',
  BOARD_HOST: 'the board listens on HOST',
  BOARD_BASE_PATH: 'the board is at the root of its own host name',
  BOARD_API_URL: 'jobs link to the console at CONSOLE_URL',
  BOARD_CONSOLE_URL: 'jobs link to the console at CONSOLE_URL',
  CONSOLE_HOST: 'the console listens on HOST',
  CONSOLE_SESSION_HOURS: 'a session ends with its token, and after 12 hours at the latest',
  CONSOLE_OIDC_AUDIENCE: 'a JWT_AUDIENCE that is a URI is the resource that the console asks its token for',
}

/** @returns the name and the fault of each setting that is gone, and set */
export function findGoneSettings(
  variables: Record<string, string | undefined>,
): [name: string, fault: string][] {
  return Object.entries(goneSettings).flatMap(([name, instead]) =>
    variables[name]?.trim() ? [[name, `is no longer a setting: ${instead}`]] : [],
  )
}
