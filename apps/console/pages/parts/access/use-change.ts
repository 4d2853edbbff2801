import { useState } from 'preact/hooks'
import { describeError, readAgain } from '../../state/use-query.js'

/** A change of the workspace, and what is to be said of it. */
export function useChange(...key: string[]) {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  async function change<Result>(work: () => PromiseLike<Result>): Promise<Result | undefined> {
    setBusy(true)
    setProblem(undefined)
    try {
      const result = await work()
      await readAgain(...key)
      return result
    } catch (error) {
      const { title, text } = describeError(error)
      const errors = (error as { errors?: { field: string; message: string }[] }).errors
      setProblem(
        errors?.map(({ field, message }) => `${field}: ${message}`).join('. ') ?? `${title}. ${text}`,
      )
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return { change, problem, isBusy }
}
