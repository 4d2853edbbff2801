import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CannotStart } from './cannot-start.js'
import { findOnPath } from './find-on-path.js'
import { tellStep } from './progress.js'

const run = promisify(execFile)

/** A program that npm cannot bring. */
export interface Program {
  title: string
  /** What it may be called on the PATH, best first. */
  commands: string[]
  aptPackage: string
  /** Of `brew install`. */
  brewArguments: string[]
  /** What somebody can do who has neither apt as root nor Homebrew: a sentence. */
  waysOn: string
  afterApt?: () => Promise<void>
}

/**
 * The program on the PATH; one that is missing is installed where that is possible without a question: by apt as root, by
 * Homebrew on macOS.
 *
 * @throws CannotStart with the ways on
 */
export async function findProgram(program: Program): Promise<string> {
  const { title, commands, waysOn } = program
  const found = await findOnPath(...commands)
  if (found !== undefined) return found
  const install = await findInstaller(program)
  if (install === undefined) throw new CannotStart(`${title} is missing. ${waysOn}`)
  await tellStep(`Installing ${title}`, install).catch((error: Error) => {
    throw new CannotStart(
      `${title} is missing and could not be installed: ${error.message.trim()}\n${waysOn}`,
      { cause: error },
    )
  })
  const installed = await findOnPath(...commands)
  if (installed === undefined)
    throw new CannotStart(`${title} was installed, but is not on the PATH. ${waysOn}`)
  return installed
}

async function findInstaller(program: Program): Promise<(() => Promise<void>) | undefined> {
  if (process.platform === 'darwin') {
    const brew = await findOnPath('brew')
    return brew === undefined
      ? undefined
      : async () => void (await run(brew, ['install', ...program.brewArguments]))
  }
  const apt = await findOnPath('apt-get')
  return apt === undefined || process.getuid?.() !== 0 ? undefined : () => installByApt(apt, program)
}

async function installByApt(apt: string, { aptPackage, afterApt }: Program): Promise<void> {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64 * 1024 * 1024 }
  await run(apt, ['update'], options)
  await run(apt, ['install', '-y', '--no-install-recommends', aptPackage], options)
  await afterApt?.()
}
