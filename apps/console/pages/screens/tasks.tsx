import '../styles/history.css'
import type { Task } from '@automation/client'
import { given, spans } from '../logic/filters.js'
import { chooseTelling, type Excerpt } from '../logic/history/choose-telling.js'
import { showControls } from '../logic/show.js'
import { Chip } from '../parts/chip.js'
import { Due } from '../parts/due.js'
import { ChoiceFilter, RuleFilter, TextFilter } from '../parts/filter.js'
import { History } from '../parts/history.js'
import { Screen } from '../parts/screen.js'
import { Empty } from '../parts/states.js'
import { Told } from '../parts/told.js'
import { When } from '../parts/when.js'
import { linkToEvent } from '../state/links.js'
import { api } from '../state/session.js'
import { linkTo, useFilters } from '../state/use-filters.js'
import { useList } from '../state/use-list.js'
import { useRuleNames } from '../state/use-rules.js'
import { TaskDetail } from './task-detail.js'

const priorities = { low: 'low', normal: 'normal', high: 'high', urgent: 'urgent' }
const dues = { now: 'before now', '24h': 'within 24 hours', '7d': 'within 7 days' }
const noFilter = { q: '', rule: '', execution: '', for: '', priority: '', due: '' }

/** What is to be done, by whom and until when, and which rule says so? */
export function Tasks() {
  const { query, set } = useFilters()
  const { q = '', rule = '', execution = '', for: assignee = '', priority = '', due = '', id } = query
  const list = useList<Task>(
    ['tasks', q, rule, execution, assignee, priority, due],
    async (cursor) => {
      const { tasks, nextCursor = null } = await api().tasks.list({
        limit: 50,
        excerpt: true,
        ...given({ cursor, q, ruleId: rule, executionId: execution, assigneeId: assignee }),
        ...(Object.hasOwn(priorities, priority) && { priority: priority as keyof typeof priorities }),
        ...(Object.hasOwn(dues, due) && { dueBefore: endOf(due as keyof typeof dues) }),
      })
      return { rows: tasks, nextCursor }
    },
    id,
    // A search looks through 20,000 tasks.
    { isPolled: q === '' },
  )
  const telling = chooseTelling(list.rows.flatMap((task) => (hasEvent(task) ? task : [])))
  const { rules, nameOf } = useRuleNames(list.rows.map(({ ruleId }) => ruleId))
  const selected = list.rows.find((task) => task.id === id)
  const isFiltered = Object.keys(noFilter).some((name) => Boolean(query[name]))
  return (
    <Screen title="Tasks" note="A task is what a rule asks a person to do.">
      <search class="filters">
        <TextFilter
          label="Words"
          value={q}
          isFirst
          placeholder="title, customer, data"
          set={(typed) => set({ q: typed })}
        />
        <RuleFilter value={rule} set={(chosen) => set({ rule: chosen })} {...{ rules, nameOf }} />
        <TextFilter label="For" value={assignee} placeholder="anyone" set={(typed) => set({ for: typed })} />
        <ChoiceFilter
          label="Priority"
          value={priority}
          options={priorities}
          set={(chosen) => set({ priority: chosen })}
        />
        <ChoiceFilter label="Due" value={due} options={dues} set={(chosen) => set({ due: chosen })} />
        {execution !== '' && (
          <Chip remove={{ label: 'Show all', run: () => set({ execution: '' }) }}>one execution</Chip>
        )}
      </search>
      <History
        list={list}
        what="tasks"
        columns={[
          'Task',
          'Event',
          'Due',
          'For',
          'Priority',
          { text: 'Rule', isLow: true },
          { text: 'Created', isLow: true },
        ]}
        selectedId={id}
        empty={<NoTasks isFiltered={isFiltered} showAll={() => set(noFilter)} />}
        row={(task) => (
          <>
            <th scope="row">
              <a href={linkTo('tasks', { ...query, id: task.id })}>{showControls(task.title)}</a>
            </th>
            <td class="line">
              {hasEvent(task) ? (
                <About task={task} fields={telling.get(task.eventType)} />
              ) : (
                <span class="quiet">removed</span>
              )}
            </td>
            <td class="named" data-label="Due">
              <Due at={task.dueAt} />
            </td>
            <td class="named cut" data-label="For">
              {task.assigneeId ?? <span class="quiet">nobody</span>}
            </td>
            <td class="named" data-label="Priority">
              {task.priority}
            </td>
            <td class="low rule">{nameOf(task.ruleId)}</td>
            <td class="low at">
              <When at={task.createdAt} />
            </td>
          </>
        )}
        detail={
          id && (
            <TaskDetail
              id={id}
              known={selected}
              key={id}
              nameOf={nameOf}
              told={
                selected &&
                hasEvent(selected) && (
                  <Told excerpt={selected.excerpt} fields={telling.get(selected.eventType)} />
                )
              }
              close={() => set({ id: '' })}
            />
          )
        }
      />
    </Screen>
  )
}

interface TaskOfEvent extends Task {
  eventId: string
  eventType: string
  excerpt?: Excerpt
}

function hasEvent(task: Task): task is TaskOfEvent {
  return task.eventId !== null
}

/** Whom or what the task is about: its event, as the list of events names it. */
function About({
  task: { eventId, eventType, excerpt },
  fields,
}: {
  task: TaskOfEvent
  fields: readonly string[] | undefined
}) {
  return (
    <a href={linkToEvent(eventId)}>
      <Told excerpt={excerpt} fields={fields} /> <code>{eventType}</code>
    </a>
  )
}

function endOf(due: keyof typeof dues): string {
  return new Date(Date.now() + (due === 'now' ? 0 : spans[due].ms)).toISOString()
}

function NoTasks({ isFiltered, showAll }: { isFiltered: boolean; showAll: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No tasks match the filter">
        <button type="button" onClick={showAll}>
          Show all tasks
        </button>
      </Empty>
    )
  return (
    <Empty title="No tasks yet">
      <p>
        A rule with the action “Create a task” makes one when an event matches its conditions.{' '}
        <a href={linkTo('rules')}>The rules</a>
      </p>
    </Empty>
  )
}
