/** Does one long step of starting up, and may tell about it. */
export type Step = <Result>(title: string, work: () => Promise<Result>) => Promise<Result>

let isLineOpen = false

/** One line per step: its title at once, the seconds it took when it is done. */
export const tellStep: Step = async (title, work) => {
  const startedAt = performance.now()
  write(`${title} …`)
  isLineOpen = true
  const end = (text: string) => {
    // Something was told in the meantime, so the line is not ours any more.
    process.stdout.write(isLineOpen ? ` ${text}\n` : `${title}: ${text}\n`)
    isLineOpen = false
  }
  try {
    const result = await work()
    end(`${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    return result
  } catch (error) {
    end('not done')
    throw error
  }
}

export const quietStep: Step = (_title, work) => work()

/** A sentence on a line of its own, also in the middle of a step. */
export function tell(sentence: string): void {
  write(`${sentence}\n`)
  isLineOpen = false
}

function write(text: string): void {
  process.stdout.write(isLineOpen ? `\n${text}` : text)
}
