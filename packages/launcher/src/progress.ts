/** Runs one long step of the start, and may print its progress. */
export type ProgressStep = <Result>(title: string, work: () => Promise<Result>) => Promise<Result>

let isLineOpen = false

/** Prints one line per step: its title at the start, and its duration in seconds at the end. */
export const printStep: ProgressStep = async (title, work) => {
  const startedAt = performance.now()
  write(`${title} …`)
  isLineOpen = true
  const end = (text: string) => {
    // If another line was printed in the meantime, the result needs a line of its own.
    process.stdout.write(isLineOpen ? ` ${text}\n` : `${title}: ${text}\n`)
    isLineOpen = false
  }
  try {
    const result = await work()
    end(`${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    return result
  } catch (error) {
    end('failed')
    throw error
  }
}

export const quietStep: ProgressStep = (_title, work) => work()

/** Prints a sentence on its own line, also in the middle of a step. */
export function printLine(sentence: string): void {
  write(`${sentence}\n`)
  isLineOpen = false
}

function write(text: string): void {
  process.stdout.write(isLineOpen ? `\n${text}` : text)
}
