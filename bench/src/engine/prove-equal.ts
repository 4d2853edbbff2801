import { isDeepStrictEqual } from 'node:util'

/** @throws Error with the first input for which the two results differ, since only equal work can be compared */
export async function proveEqual<Input>(
  name: string,
  inputs: readonly Input[],
  ours: (input: Input) => unknown,
  theirs: (input: Input) => unknown,
): Promise<void> {
  for (const input of inputs) {
    const [our, their] = [await ours(input), await theirs(input)]
    if (isDeepStrictEqual(our, their)) continue
    const [given, first, second] = [input, our, their].map((value) => JSON.stringify(value))
    throw new Error(`${name}: ${given} gives ${first} here and ${second} there`)
  }
}
