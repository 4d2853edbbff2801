import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, chmod, chown, mkdir, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { PostgresBinaries } from '../binaries/postgres-binaries.js'
import type { ServerUser } from '../binaries/server-user.js'
import { CannotStart } from '../cannot-start.js'
import { serverEnvironment } from '../environment.js'
import { readIfPresent, writePrivateFile } from '../private-file.js'

const superuser = 'postgres'
// Replaces the file of the data directory, so that a cluster of an earlier version trusts nobody either.
const authentication = 'host all all 127.0.0.1/32 scram-sha-256\n'

export interface Cluster {
  data: string
  /** `postgres -c hba_file` */
  hbaFile: string
  user: string
  password: string
}

interface Place {
  binaries: PostgresBinaries
  /** Has `data`, and `password`: both are made on the first run. */
  home: string
  user: ServerUser | undefined
  durable: boolean
  /** The home of a stopped server, which the first run copies with its password: for tests, that start some dozen servers. */
  copyOf?: string | undefined
}

/**
 * Opens the data directory of a stopped server, and creates it on the first run. One that has no password yet, because an
 * earlier version made it, gets one.
 *
 * @throws CannotStart if Postgres cannot create it, or set the password
 */
export async function openCluster(place: Place): Promise<Cluster> {
  const { home, user } = place
  const data = `${home}/data`
  const passwordFile = `${home}/password`
  const isNew = !(await exists(data))
  // An interrupted first start leaves no half-made directory behind: the last step gives it its name.
  const unfinished = `${home}/data.new`
  if (isNew)
    await (place.copyOf === undefined ? initialise(place, unfinished) : copy(place.copyOf, unfinished))
  let password = await readIfPresent(isNew ? `${place.copyOf ?? unfinished}/password` : passwordFile)
  if (password === undefined) {
    password = randomBytes(24).toString('base64url')
    await setPassword(place, isNew ? unfinished : data, password)
    await writePrivateFile(passwordFile, password)
  } else if (isNew) await writePrivateFile(passwordFile, password)
  if (isNew) await rename(unfinished, data)
  const hbaFile = `${home}/pg_hba.conf`
  await writePrivateFile(hbaFile, authentication, user)
  return { data, hbaFile, user: superuser, password }
}

/** The major version of Postgres that made the data directory, or undefined before the first run. */
export async function readMajor(home: string): Promise<number | undefined> {
  const text = await readIfPresent(`${home}/data/PG_VERSION`)
  return text === undefined ? undefined : Number.parseInt(text, 10)
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** With the owner of each file, which Node's own copy leaves out. */
async function copy(home: string, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await promisify(execFile)('cp', ['-a', `${home}/data`, directory])
}

async function initialise({ binaries, home, user, durable }: Place, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory)
  await chmod(directory, 0o700)
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  const locale = process.platform === 'darwin' ? 'C' : 'C.UTF-8'
  const args = [
    ...['-D', directory, `--username=${superuser}`, '--encoding=UTF8', `--locale=${locale}`],
    // No server runs before it has a password.
    ...['--auth=trust', ...(durable ? [] : ['--no-sync'])],
  ]
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  const options = { cwd: home, env: serverEnvironment(), ...identity }
  await promisify(execFile)(binaries.initdb, args, options).catch((error: Error) => {
    throw new CannotStart(`Postgres could not create its data directory: ${error.message}`, { cause: error })
  })
}

/** Postgres' single-user mode opens no port, and reads from its input what `ps` must not show. */
async function setPassword({ binaries, home, user }: Place, data: string, password: string): Promise<void> {
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  const options = { cwd: home, env: serverEnvironment(), ...identity }
  const running = promisify(execFile)(binaries.postgres, ['--single', '-D', data, 'postgres'], options)
  running.child.stdin?.on('error', () => {})
  running.child.stdin?.end(`ALTER ROLE ${superuser} PASSWORD '${password}'\n`)
  // It exits with code 0 even if the statement failed.
  const fault = await running.then(
    ({ stdout, stderr }) => (/\b(ERROR|FATAL|PANIC):/.test(stderr) ? `${stderr}${stdout}` : undefined),
    (error: Error) => error.message,
  )
  if (fault !== undefined) throw new CannotStart(`Postgres could not set its password: ${fault.trim()}`)
}
