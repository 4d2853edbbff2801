import { useEffect, useState } from 'preact/hooks'

/** Keeps the text of a value as it is typed: `1.` is on its way to `1.5`. After a change elsewhere it is what the value says. */
export function useTyped(
  value: unknown,
  read: (text: string) => unknown,
  write: (value: unknown) => string,
): [string, (text: string) => void] {
  const [text, setText] = useState(write(value ?? ''))
  const isOther = JSON.stringify(read(text)) !== JSON.stringify(value ?? '')
  useEffect(() => {
    if (isOther) setText(write(value ?? ''))
  }, [isOther])
  return [text, setText]
}
