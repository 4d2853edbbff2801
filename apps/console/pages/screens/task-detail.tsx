import type { Task } from '@automation/client'
import { showControls } from '../logic/show.js'
import { DetailHead } from '../parts/detail-head.js'
import { Due } from '../parts/due.js'
import { When } from '../parts/when.js'
import { linkToRun } from '../state/links.js'
import { linkTo } from '../state/use-filters.js'

/** One task, and where it comes from. */
export function TaskDetail({
  task,
  nameOf,
  close,
}: {
  task: Task
  nameOf: (ruleId: string) => string
  close: () => void
}) {
  const { id, title, description, dueAt, assigneeId, priority, ruleId, executionId, actionIndex, createdAt } =
    task
  return (
    <>
      <DetailHead title={showControls(title)} what="the task" close={close} />
      {description && <p class="text">{showControls(description)}</p>}
      <dl class="facts">
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
          <When at={createdAt} /> by <a href={linkToRun(executionId)}>an execution</a>
          {actionIndex >= 0 && `, action ${actionIndex + 1}`}
        </dd>
      </dl>
      <p class="quiet id">{id}</p>
    </>
  )
}
