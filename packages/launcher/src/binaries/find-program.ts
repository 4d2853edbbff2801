import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CannotStart } from '../cannot-start.js'
import { printStep } from '../progress.js'
import { findOnPath } from './find-on-path.js'

const run = promisify(execFile)

/** A program that npm cannot install. */
export interface Program {
  title: string
  /** Its possible names on the PATH, the preferred one first. */
  commands: string[]
  aptPackage: string
  /** Arguments of `brew install`. */
  brewArguments: string[]
  /** One or two sentences for users who have neither apt as root nor Homebrew. */
  instructions: string
  afterApt?: () => Promise<void>
}

/**
 * Finds a program on the PATH. A missing program is installed if that needs no confirmation: by apt as root, or by
 * Homebrew on macOS.
 *
 * @throws CannotStart with the program's instructions if it cannot be installed
 */
export async function findProgram(program: Program): Promise<string> {
  const { title, commands, instructions } = program
  const found = await findOnPath(...commands)
  if (found !== undefined) return found
  const install = await findInstaller(program)
  if (install === undefined) throw new CannotStart(`${title} is missing. ${instructions}`)
  await printStep(`Installing ${title}`, install).catch((error: Error) => {
    throw new CannotStart(
      `${title} is missing and could not be installed: ${error.message.trim()}\n${instructions}`,
      { cause: error },
    )
  })
  const installed = await findOnPath(...commands)
  if (installed === undefined)
    throw new CannotStart(`${title} was installed, but is not on the PATH. ${instructions}`)
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
