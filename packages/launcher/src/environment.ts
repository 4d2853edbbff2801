const names = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'TMPDIR', 'TZ', 'CI', 'DISPLAY'],
  ...['LANG', 'LANGUAGE', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR'],
  ...['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  // Of the launcher itself.
  ...['AUTO_INSTALL', 'USE_BUNDLES'],
]
const prefixes = ['LC_', 'NODE_', 'npm_', 'XDG_', 'TEST_', 'TAP']

/**
 * The variables of a shell that every process may have. All others are left out: a shell may contain the settings of a
 * product in production, and the demo and the tests must not send its mail, fill its queue or follow its limits.
 */
export function inheritEnvironment(variables: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const isInherited = (name: string) =>
    names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
  return Object.fromEntries(Object.entries(variables).filter(([name]) => isInherited(name)))
}

/** Removes the defaults for connections to Postgres (PGHOST, PGSSLMODE …): they belong to other servers than the launcher's. */
export function forgetPostgresDefaults(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name]
}

/** The variables of Postgres and Redis, which may run as another user: nothing of the launcher's that they do not need. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, TZ, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH } = process.env
  const set = Object.entries({ PATH, TZ, LD_LIBRARY_PATH, DYLD_LIBRARY_PATH }).filter(([, value]) => value)
  return { ...Object.fromEntries(set), LC_ALL: 'C' }
}
