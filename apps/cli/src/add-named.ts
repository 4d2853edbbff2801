import type { Command } from 'commander'

/** Adds a command, or a group of which the arguments name one. */
type Add = (parent: Command, args: readonly string[]) => void | Promise<void>

/**
 * Adds the command that the arguments name, or all where they name none of them. What it imports is loaded only then: a command that needs
 * no database does not load the client of one.
 */
export async function addNamed(
  parent: Command,
  args: readonly string[],
  loaders: Readonly<Record<string, () => Promise<Add>>>,
): Promise<void> {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const [name = '', ...rest] = words
  const named = Object.hasOwn(loaders, name) ? loaders[name] : undefined
  const adds = await Promise.all(
    (named === undefined ? Object.values(loaders) : [named]).map((load) => load()),
  )
  for (const add of adds) await add(parent, rest)
}
