/**
 * The beginning of a text, at most so many characters as schemas and Postgres count them (code points): a pair of surrogates stays whole, since
 * Postgres refuses half of one. Where something is cut, the mark follows. It reads no more than it returns.
 *
 * truncateText cuts for readers, who count an emoji with its modifiers as one.
 */
export function cutText(text: string, length: number, mark = ''): string {
  if (text.length <= length) return text
  let end = 0
  for (let count = 0; count < length && end < text.length; count++)
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1
  return end === text.length ? text : text.slice(0, end) + mark
}
