import { queueName } from '@automation/queue'
import type { AppQueue } from '@bull-board/api/typings/app'

const title = 'Redis is away'
const comfort =
  'Nothing that was accepted is lost: events are in PostgreSQL, and workers go on with them when Redis is back.'

/** Instead of the board: asks again by itself, so the board is there as soon as Redis is. */
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
<p>The board cannot see the queue. ${comfort}</p>
<p>This page asks again every five seconds.</p>
</main>
</body>
</html>
`

/** In the queue's place, for a page of the board that is open already: it would tell that there is no queue. */
const awayQueue: AppQueue = {
  name: queueName,
  displayName: title,
  description: comfort,
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

/** What such a page is answered: the error becomes a notice on it. */
export const awayAnswer = { error: title, queues: [awayQueue] }
