import { Removals } from '@automation/access'
import { Check } from 'typebox/value'
import { usageError } from './command-error.js'
import { readText } from './read-text.js'

/** Reads the list that `removals write` has written. @throws CommandError for another file */
export async function readRemovals(path: string): Promise<Removals> {
  const list = readJson(await readText(path))
  if (!Check(Removals, list)) throw usageError(`${path} must be a list that removals write has written.`)
  return list
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
