import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, chmod, chown, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { PostgresBinaries } from '../binaries/postgres-binaries.js'
import type { ServerUser } from '../binaries/server-user.js'
import { CannotStart } from '../cannot-start.js'
import { serverEnvironment } from '../environment.js'
import { writePrivateFile } from '../private-file.js'

const superuser = 'postgres'

export interface Cluster {
  data: string
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
 * Opens the data directory of a stopped server, and creates it on the first run.
 *
 * @throws CannotStart if Postgres cannot create it
 */
export async function openCluster(place: Place): Promise<Cluster> {
  const { home, user, copyOf } = place
  const data = `${home}/data`
  const passwordFile = `${home}/password`
  if (!(await exists(data))) {
    const password =
      copyOf === undefined
        ? randomBytes(24).toString('base64url')
        : await readFile(`${copyOf}/password`, 'utf8')
    await writePrivateFile(passwordFile, password, user)
    // An interrupted first start leaves no half-made directory behind: the last step gives it its name.
    const unfinished = `${home}/data.new`
    await (copyOf === undefined ? initialise(place, unfinished, passwordFile) : copy(copyOf, unfinished))
    await rename(unfinished, data)
  }
  return { data, user: superuser, password: await readFile(passwordFile, 'utf8') }
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

async function initialise(
  { binaries, home, user, durable }: Place,
  directory: string,
  passwordFile: string,
): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory)
  await chmod(directory, 0o700)
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  const locale = process.platform === 'darwin' ? 'C' : 'C.UTF-8'
  const args = [
    ...['-D', directory, `--username=${superuser}`, '--encoding=UTF8', `--locale=${locale}`],
    ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`, ...(durable ? [] : ['--no-sync'])],
  ]
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  const options = { cwd: home, env: serverEnvironment(), ...identity }
  await promisify(execFile)(binaries.initdb, args, options).catch((error: Error) => {
    throw new CannotStart(`Postgres could not create its data directory: ${error.message}`, { cause: error })
  })
}
