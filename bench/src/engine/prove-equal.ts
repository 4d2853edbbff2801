import { isDeepStrictEqual } from 'node:util'

/** @throws Error that shows the first input on which the two do not agree: what differs cannot be compared */
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
