/** Does one long step of starting up, and may tell about it. */
export type Step = <Result>(title: string, work: () => Promise<Result>) => Promise<Result>

/** One line per step: its title at once, the seconds it took when it is done. */
export const tellStep: Step = async (title, work) => {
  const startedAt = performance.now()
  process.stdout.write(`${title} … `)
  try {
    const result = await work()
    process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
    return result
  } catch (error) {
    process.stdout.write('failed\n')
    throw error
  }
}

export const quietStep: Step = (_title, work) => work()
