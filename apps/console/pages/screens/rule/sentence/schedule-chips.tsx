import { Schedule as ScheduleSchema } from '@automation/engine'
import { useEffect, useState } from 'preact/hooks'
import { nameClock } from '../../../logic/editing/format-run.js'
import type { listTicks } from '../../../logic/editing/list-ticks.js'
import {
  changeScheduleKind,
  readSchedule,
  type Schedule,
  type ScheduleKind,
  scheduleKinds,
  type Told,
  writeCron,
} from '../../../logic/editing/schedule-kinds.js'
import type { FieldSchema } from '../../../logic/editing/schema-kind.js'
import { readNumber } from '../../../logic/value-kind.js'
import { Combobox } from '../../../parts/combobox.js'
import { AddChip } from './add-chip.js'
import { ChipInput } from './chip-input.js'
import { ConfigChip } from './config-chip.js'
import { DayChips } from './day-chips.js'
import { useFault } from './faults.js'
import { TimeChip } from './time-chip.js'
import { ownZone, ZoneChip } from './zone-chip.js'

interface Props {
  schedule: Schedule
  change: (schedule: Schedule) => void
}

/** When a rule runs: *on days of the week* Mo Tu *at* 09:00 *in zone* Europe/Berlin. */
export function ScheduleChips({ schedule, change }: Props) {
  // What could also be told by chips may be wanted as an expression.
  const [isExpression, want] = useState(false)
  const read = readSchedule(schedule)
  const told: Told = isExpression && schedule.cron !== undefined ? { ...read, kind: 'cron' } : read
  const set = (changes: Partial<Told>) => change({ ...schedule, cron: writeCron({ ...told, ...changes }) })
  return (
    <>
      <Combobox
        label="How often"
        path="schedule.kind"
        look="chip"
        isStrict
        value={told.kind}
        options={scheduleKinds.map(({ kind, words, hint }) => ({ value: kind, text: words, hint }))}
        change={(kind) => {
          want(kind === 'cron')
          change(changeScheduleKind(schedule, kind as ScheduleKind, ownZone))
        }}
      />
      <Times {...{ told, set, schedule, change }} />
      {schedule.timezone !== undefined && (
        <ZoneChip
          path="schedule.timezone"
          value={schedule.timezone}
          change={(timezone) => change({ ...schedule, timezone })}
        />
      )}
      <CatchUp {...{ schedule, change }} />
      <NextTimes schedule={schedule} />
    </>
  )
}

type TimesProps = Props & { told: Told; set: (changes: Partial<Told>) => void }

function Times({ told, set, schedule, change }: TimesProps) {
  const { kind, time, days, date } = told
  if (kind === 'every') return <EveryChip {...{ schedule, change }} />
  if (kind === 'cron') return <CronChip {...{ schedule, change }} />
  return (
    <>
      {kind === 'weekly' && <DayChips label="Days" days={days} change={(next) => set({ days: next })} />}
      {kind === 'monthly' && (
        <span class="config">
          <span class="words">on day</span>
          <SmallNumber
            label="Day of the month"
            value={date}
            min={1}
            max={31}
            change={(next) => set({ date: next })}
          />
        </span>
      )}
      {kind === 'hourly' ? (
        <span class="config">
          <span class="words">at minute</span>
          <SmallNumber
            label="Minute"
            value={Number(time.slice(3))}
            min={0}
            max={59}
            change={(minute) => set({ time: `00:${`${minute}`.padStart(2, '0')}` })}
          />
        </span>
      ) : (
        <span class="config">
          <span class="words">at</span>
          <TimeChip label="Time" path="schedule.cron" value={time} change={(next) => set({ time: next })} />
        </span>
      )}
    </>
  )
}

interface NumberProps {
  label: string
  value: number
  min: number
  max: number
  change: (value: number) => void
}

/** A number that is one of a range, or the last that was. */
function SmallNumber({ label, value, min, max, change }: NumberProps) {
  const [typed, type] = useState<string>()
  const read = (text: string) => {
    const number = readNumber(text)
    return text !== '' &&
      typeof number === 'number' &&
      Number.isInteger(number) &&
      number >= min &&
      number <= max
      ? number
      : undefined
  }
  const isOpen = typed !== undefined && read(typed) === undefined
  return (
    <ChipInput
      {...{ label, min, max }}
      path="schedule.cron"
      fault={{ own: { isInvalid: false, describedBy: undefined }, look: '' }}
      type="number"
      isFaulty={isOpen}
      value={typed ?? value}
      change={(text) => {
        type(text)
        const number = read(text)
        if (number !== undefined) change(number)
      }}
      onBlur={() => type(undefined)}
    />
  )
}

const intervals = ['5m', '15m', '30m', '1h', '6h', '1d'].map((value) => ({ value }))

function EveryChip({ schedule, change }: Props) {
  const fault = useFault('schedule.every')
  const { every = '' } = schedule
  return (
    <span class="config">
      <span class="words">every</span>
      <Combobox
        label="Interval"
        path="schedule.every"
        look={`chip value-chip ${every === '' ? 'empty-chip' : fault.look}`}
        placeholder="15m"
        value={every}
        options={intervals}
        change={(next) => change({ ...schedule, every: next })}
        {...fault.own}
      />
      {fault.text}
    </span>
  )
}

function CronChip({ schedule, change }: Props) {
  const fault = useFault('schedule.cron')
  const { cron = '' } = schedule
  return (
    <>
      <ChipInput
        label="Cron expression"
        path="schedule.cron"
        fault={fault}
        look="value-chip mono"
        isEmpty={cron === ''}
        size={Math.max(9, cron.length)}
        placeholder="0 9 * * 1-5"
        value={cron}
        change={(typed) => change({ ...schedule, cron: typed })}
      />
      {fault.text}
    </>
  )
}

const catchUpSchema = ScheduleSchema.properties.catchUp as FieldSchema

/** What becomes of ticks that are overdue. */
function CatchUp({ schedule, change }: Props) {
  const { catchUp, ...others } = schedule
  if (catchUp === undefined)
    return (
      <AddChip
        words="after an outage"
        title={catchUpSchema.description}
        path="schedule.catchUp"
        add={() => change({ ...schedule, catchUp: 'none' })}
      />
    )
  return (
    <ConfigChip
      name="catchUp"
      words="after an outage run"
      schema={catchUpSchema}
      path="schedule.catchUp"
      value={catchUp}
      change={(next) => change({ ...others, catchUp: next as 'latest' })}
      remove={() => change(others)}
    />
  )
}

const mostShown = 5

/** The next times, or why there is none. Their code comes with the first schedule. */
function NextTimes({ schedule }: { schedule: Schedule }) {
  const [found, find] = useState<ReturnType<typeof listTicks>>()
  useEffect(() => {
    let isWanted = true
    void import('../../../logic/editing/list-ticks.js').then(({ listTicks }) => {
      if (isWanted) find(listTicks(schedule, Date.now(), mostShown))
    })
    return () => {
      isWanted = false
    }
  }, [JSON.stringify(schedule)])
  if (found === undefined) return <span class="sub members">Next: …</span>
  if (found.fault !== undefined)
    return (
      <span class="sub members bad" role="status">
        {found.fault}
      </span>
    )
  const changes = found.ticks.flatMap(({ time, clockChange }) =>
    clockChange === null ? [] : [`${time}: ${clockChange}.`],
  )
  return (
    <span class="sub members">
      {found.ticks.length === 0
        ? 'It never runs.'
        : `Next: ${found.ticks.map(({ time }) => time).join(' · ')}, ${nameClock(schedule)}`}
      {changes.map((text) => (
        <span key={text} class="sub wait">
          {text}
        </span>
      ))}
    </span>
  )
}
