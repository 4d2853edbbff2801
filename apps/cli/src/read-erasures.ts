import { ErasureToApply } from '@automation/access'
import { Check } from 'typebox/value'
import { usageError } from './command-error.js'
import { readText } from './read-text.js'

/** Reads the list that `erasures list --json` has printed. @throws CommandError for another file */
export async function readErasures(path: string): Promise<ErasureToApply[]> {
  const list = readJson(await readText(path))
  if (!Array.isArray(list) || !list.every((entry) => Check(ErasureToApply, entry)))
    throw usageError(`${path} must have the list that erasures list --json prints.`)
  return list
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
