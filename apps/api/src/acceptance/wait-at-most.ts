/** Waits for a promise for at most `ms`. @returns undefined where it has not settled by then */
export async function waitAtMost<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}
