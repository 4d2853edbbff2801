import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
/** What the image has, as the Dockerfile says; packages come from this clone. */
const parts = ['apps', 'packages', 'prisma', 'docs', 'package.json']
const leftOut = new Set(['node_modules', 'src', 'test', 'pages'])

/** How a program ended, and what it has said. */
export interface Ended {
  code: number | string | null
  output: string
}

/** A version of the product in a directory of its own. */
export class Installation {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** The one of this clone. */
  static readonly current = new Installation(root)

  /** Copies the bundles of this clone. @param migrations scripts by their names, which come after those that are there */
  static async copy(directory: string, migrations: Record<string, string>): Promise<Installation> {
    for (const part of parts)
      await cp(join(root, part), join(directory, part), {
        recursive: true,
        filter: (path) => !leftOut.has(basename(path)),
      })
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
    for (const [name, sql] of Object.entries(migrations)) {
      await mkdir(join(directory, 'prisma/migrations', name))
      await writeFile(join(directory, 'prisma/migrations', name, 'migration.sql'), sql)
    }
    return new Installation(directory)
  }

  get api(): string {
    return join(this.#directory, 'apps/api/dist/bundle/server.js')
  }

  get worker(): string {
    return join(this.#directory, 'apps/worker/dist/bundle/main.js')
  }

  get console(): string {
    return join(this.#directory, 'apps/console/dist/bundle/server.js')
  }

  /** As `npm run migrate` does. @param isEnough kills it with -9 as soon as this is true */
  async migrate(databaseUrl: string, isEnough?: () => Promise<boolean>): Promise<Ended> {
    const file = join(this.#directory, 'packages/database/dist/bundle/migrate-command.js')
    let isOver = false
    const ended = new Promise<Ended>((resolve) => {
      const env = { PATH: process.env.PATH ?? '', DATABASE_URL: databaseUrl }
      const child = execFile(process.execPath, [file], { env }, (error, stdout, stderr) => {
        isOver = true
        resolve({ code: error ? (error.signal ?? error.code ?? null) : 0, output: (stdout + stderr).trim() })
      })
      if (isEnough !== undefined) void killWhen(isEnough, child.kill.bind(child, 'SIGKILL'), () => isOver)
    })
    return ended
  }
}

async function killWhen(
  isEnough: () => Promise<boolean>,
  kill: () => void,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver() && !(await isEnough())) await new Promise((resolve) => setTimeout(resolve, 20))
  kill()
}
