import { useState } from 'preact/hooks'
import { ChipInput } from './chip-input.js'
import { useFault } from './faults.js'

interface Props {
  label: string
  path: string
  /** `09:00` */
  value: string
  /** 24:00 is the end of a day. */
  isEnd?: boolean
  change: (time: string) => void
}

/** A time of the clock of 24 hours. What is none stands here only: the rule keeps the last that was one. */
export function TimeChip({ label, path, value, isEnd = false, change }: Props) {
  const [typed, type] = useState<string>()
  const fault = useFault(path)
  const read = (text: string) => (isEnd && text.trim() === '24:00' ? '24:00' : readTime(text))
  const isOpen = typed !== undefined && read(typed) === undefined
  return (
    <>
      <ChipInput
        {...{ label, path, fault }}
        inputMode="numeric"
        isFaulty={isOpen}
        size={5}
        value={typed ?? value}
        change={(text) => {
          type(text)
          const time = read(text)
          if (time !== undefined) change(time)
        }}
        onBlur={() => type(undefined)}
      />
      {fault.text}
    </>
  )
}

/** `9:00` is `09:00`. @returns undefined where the text is no time */
function readTime(text: string): string | undefined {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim()) ?? []
  return hour === undefined ? undefined : `${hour.padStart(2, '0')}:${minute}`
}
