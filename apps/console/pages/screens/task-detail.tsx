import type { Task } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { showControls } from '../logic/show.js'
import { DetailHead } from '../parts/detail-head.js'
import { Due } from '../parts/due.js'
import { Unread } from '../parts/states.js'
import { When } from '../parts/when.js'
import { linkToEvent, linkToExecution } from '../state/links.js'
import { api } from '../state/session.js'
import { linkTo } from '../state/use-filters.js'
import { useQuery } from '../state/use-query.js'

/** One task, and where it comes from. */
export function TaskDetail({
  id,
  known,
  nameOf,
  told,
  close,
}: {
  id: string
  /** As the list has it: a task never changes. */
  known: Task | undefined
  nameOf: (ruleId: string) => string
  /** What tells its event from others, as its row has it. */
  told: ComponentChildren
  close: () => void
}) {
  const found = useQuery<Task>({
    key: known ? undefined : ['task', id],
    read: () => api().tasks.get(id),
    pollMs: false,
  })
  const task = known ?? found.data
  if (task) return <TaskFacts {...{ task, nameOf, told, close }} />
  return (
    <>
      <DetailHead title="Task" what="the task" close={close} />
      <Unread {...found} what="the task" />
    </>
  )
}

function TaskFacts({
  task,
  nameOf,
  told,
  close,
}: {
  task: Task
  nameOf: (ruleId: string) => string
  told: ComponentChildren
  close: () => void
}) {
  const { id, title, description, dueAt, assigneeId, priority, ruleId, executionId, actionIndex, createdAt } =
    task
  const { eventId, eventType } = task
  return (
    <>
      <DetailHead title={showControls(title)} what="the task" close={close} />
      {description && <p class="text">{showControls(description)}</p>}
      <dl class="facts">
        <dt>Event</dt>
        <dd>
          {eventId === null ? (
            <span class="quiet">removed</span>
          ) : (
            <a href={linkToEvent(eventId)}>
              {told} <code>{eventType}</code>
            </a>
          )}
        </dd>
        <dt>Due</dt>
        <dd>
          <Due at={dueAt} />
        </dd>
        <dt>For</dt>
        <dd>{assigneeId ?? <span class="quiet">nobody</span>}</dd>
        <dt>Priority</dt>
        <dd>{priority}</dd>
        <dt>Rule</dt>
        <dd>
          <a href={linkTo(`rules/${ruleId}`)}>{nameOf(ruleId)}</a>
        </dd>
        <dt>Created</dt>
        <dd>
          <When at={createdAt} /> by <a href={linkToExecution(executionId)}>an execution</a>
          {actionIndex >= 0 && `, action ${actionIndex + 1}`}
        </dd>
      </dl>
      <p class="quiet id">{id}</p>
    </>
  )
}
