import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { CannotStart } from '../cannot-start.js'
import { printLine, printStep } from '../progress.js'
import { findOnPath } from './find-on-path.js'

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

interface Installer {
  /** The command line, for the user. */
  command: string
  install: () => Promise<void>
}

/**
 * Finds a program on the PATH. A missing program is installed if that needs no confirmation: by apt as root, or by
 * Homebrew on macOS. A line announces the command before it runs, and AUTO_INSTALL=0 forbids it.
 *
 * @throws CannotStart with the program's instructions if it cannot or must not be installed
 */
export async function findProgram(program: Program): Promise<string> {
  const { title, commands, instructions } = program
  const found = await findOnPath(...commands)
  if (found !== undefined) return found
  const installer = await findInstaller(program)
  if (installer === undefined) throw new CannotStart(`${title} is missing. ${instructions}`)
  if (process.env.AUTO_INSTALL === '0')
    throw new CannotStart(`${title} is missing, and AUTO_INSTALL=0 forbids its installation. ${instructions}`)
  printLine(
    `${title} is missing and will be installed with \`${installer.command}\` (AUTO_INSTALL=0 forbids this)`,
  )
  await printStep(`Installing ${title}`, installer.install).catch((error: Error) => {
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

async function findInstaller({
  aptPackage,
  brewArguments,
  afterApt,
}: Program): Promise<Installer | undefined> {
  if (process.platform === 'darwin') {
    const brew = await findOnPath('brew')
    const args = ['install', ...brewArguments]
    const install = async () => run(brew ?? '', args)
    return brew === undefined ? undefined : { command: ['brew', ...args].join(' '), install }
  }
  const apt = await findOnPath('apt-get')
  if (apt === undefined || process.getuid?.() !== 0) return undefined
  const args = ['install', '-y', '--no-install-recommends', aptPackage]
  return {
    command: ['apt-get', ...args].join(' '),
    install: async () => {
      await runApt(apt, ['update'])
      await runApt(apt, args)
      await afterApt?.()
    },
  }
}

function runApt(apt: string, args: string[]): Promise<void> {
  return run(apt, args, { ...process.env, DEBIAN_FRONTEND: 'noninteractive' })
}

/** In a process group of its own: a Ctrl-C in the terminal reaches the launcher alone, and cuts no installation in half. */
async function run(command: string, args: string[], env = process.env): Promise<void> {
  const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const [errors, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0)
    throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? signal}\n${errors.slice(-2_000)}`)
}
