/** As JSON.stringify writes them. After an odd number of backslashes, another one is text. */
const nul = /(?<!\\)((?:\\\\)*)\\u0000/g
const unpairedSurrogate = /(?<!\\)((?:\\\\)*)\\ud[89a-f]../g
const mayBeUnstorable = /\\u(?:0000|d[89a-f])/

/**
 * Writes a value as JSON for a statement: all JSON that Postgres gets is written here (only-one-writer.test.ts). Texts may hold what Postgres refuses:
 * NUL, which is left out, and unpaired surrogates, which are replaced. One such text would otherwise fail the statement, for as often as it is tried.
 */
export function writeJson(value: unknown): string {
  return makeStorable(JSON.stringify(value))
}

/** The same for what Prisma has written. */
export function makeStorable(json: string): string {
  return mayBeUnstorable.test(json) ? replaceUnstorable(json) : json
}

/** In the text: to write the value again would call a function for each part of it, and a function for each match would take a second. */
function replaceUnstorable(json: string): string {
  return json.replace(nul, '$1').replace(unpairedSurrogate, '$1\ufffd')
}
