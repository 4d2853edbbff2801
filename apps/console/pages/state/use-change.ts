import { useState } from 'preact/hooks'
import { describeError, readAgain } from './use-query.js'

/** A change of the workspace, and what is to be said of it. */
export function useChange(...key: string[]) {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  /** @returns undefined where it failed: `problem` says why. */
  async function change<Result>(work: () => PromiseLike<Result>): Promise<Result | undefined> {
    setBusy(true)
    setProblem(undefined)
    try {
      const result = await work()
      await readAgain(...key)
      return result
    } catch (error) {
      setProblem(writeRefusal(error))
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return { change, problem, isBusy }
}

function writeRefusal(error: unknown): string {
  const { errors } = error as { errors?: { field: string; message: string }[] }
  const { title, text } = describeError(error)
  return (
    errors?.map(({ field, message }) => `${field}: ${message}`).join('. ') ?? `${title}. ${text}`.trimEnd()
  )
}
