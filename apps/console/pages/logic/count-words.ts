import { writeNumber } from './locale.js'

/** `4,139` */
export const formatCount = writeNumber

/** `1 event`, `4,139 events`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}
