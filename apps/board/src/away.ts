import { queueName } from '@automation/queue'
import type { AppQueue } from '@bull-board/api/typings/app'

const title = 'Redis is unavailable'
const reassurance =
  'No accepted event is lost: events are stored in PostgreSQL, and workers continue with them when Redis is back.'

/** Shown instead of the board. It reloads itself, so the board appears as soon as Redis is back. */
export const awayPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>
body { display: grid; place-content: center; min-height: 90vh; font: 1rem/1.6 system-ui, sans-serif; color: #334155; background: #f8fafc }
main { max-width: 34rem; padding: 1.5rem }
h1 { font-size: 1.4rem }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>The board cannot read the queue. ${reassurance}</p>
<p>This page reloads every five seconds.</p>
</main>
</body>
</html>
`

/** Replaces the queue on a page of the board that is already open, which would otherwise report that there is no queue. */
const awayQueue: AppQueue = {
  name: queueName,
  displayName: title,
  description: reassurance,
  statuses: ['latest'],
  counts: {},
  jobs: [],
  pagination: { pageCount: 1, range: { start: 0, end: 0 } },
  readOnlyMode: true,
  allowRetries: false,
  allowCompletedRetries: false,
  isPaused: false,
  type: 'bullmq',
  delimiter: '',
  globalConcurrency: null,
  activeRateLimitTtl: 0,
  supportsGlobalRateLimit: false,
  jobSchedulerCount: 0,
  hasWorkers: null,
}

/** The response to such a page, which shows the error as a notice. */
export const awayResponse = { error: title, queues: [awayQueue] }
