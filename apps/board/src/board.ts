import type { JobQueue, QueueReader } from '@automation/queue'
import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import type { ExternalJobUrl, JobStatus, UIConfig } from '@bull-board/api/typings/app'
import { FastifyAdapter } from '@bull-board/fastify'
import type { Job } from 'bullmq'
import type { FastifyPluginAsync } from 'fastify'
import { awayPage, awayResponse } from './away.js'
import { describeData, describeJob, linkJob } from './describe-job.js'
import type { StoredJobNames } from './job-names.js'

interface Options {
  queueReader: QueueReader
  allowsWrites: boolean
  consoleUrl: string | undefined
  /** undefined: jobs have ids. */
  names: StoredJobNames | undefined
}

/** Bull Board for our queue, with our own texts. While Redis is away it reports that instead of waiting. */
export const boardRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { queueReader } = options
  const serverAdapter = new FastifyAdapter()
  const board = createBullBoard({ queues: [], serverAdapter, options: { uiConfig: describeBoard(options) } })
  let shown: JobQueue[] = []

  app.addHook('onRequest', async (request, reply) => {
    const path = request.url
    if (path.startsWith('/static/')) return
    const queues = await queueReader.findQueues()
    if (queues === undefined) {
      reply.status(503).header('retry-after', 5)
      return path.startsWith('/api/') ? reply.send(awayResponse) : reply.type('text/html').send(awayPage)
    }
    if (queues.length !== shown.length || queues.some((queue, index) => queue !== shown[index])) {
      board.replaceQueues(queues.map((queue, index) => adaptQueue(queue, index, queues, options)))
      shown = queues
    }
  })
  // Fonts are the only thing that Bull Board would load from other servers.
  app.addHook('onSend', async (_request, _reply, payload) =>
    typeof payload === 'string' ? payload.replace(/<link href="https?:[^>]*>/g, '') : payload,
  )
  await app.register(serverAdapter.registerPlugin())
}

const noNames = { type: () => undefined, workspace: () => undefined }

function adaptQueue(
  queue: JobQueue,
  index: number,
  all: JobQueue[],
  { allowsWrites, consoleUrl, names }: Options,
): BullMQAdapter {
  const adapter = new EventQueueAdapter(queue, index, all, names, {
    displayName: `Events and due executions${index === 0 ? '' : ` ${index}`}`,
    description:
      'Accepted events whose rules are to run (trigger, execute), and executions to continue (resume)',
    readOnlyMode: !allowsWrites,
    ...(consoleUrl && { externalJobUrl: (job) => linkJob(job, consoleUrl) as ExternalJobUrl }),
  })
  adapter.setFormatter('name', (job) => describeJob(job as { name: string; data: unknown }, names ?? noNames))
  // With writes, the data must be shown as it is, because an edit writes it back.
  if (!allowsWrites) adapter.setFormatter('data', describeData)
  return adapter
}

/** Jobs of a page; without a state, of each state. */
const maxJobs = 100

/** Omits the states that our jobs never have: completed jobs leave the queue, and no job has children. */
class EventQueueAdapter extends BullMQAdapter {
  readonly #index: number
  readonly #all: JobQueue[]
  readonly #names: StoredJobNames | undefined

  constructor(
    queue: JobQueue,
    index: number,
    all: JobQueue[],
    names: StoredJobNames | undefined,
    options: ConstructorParameters<typeof BullMQAdapter>[1],
  ) {
    super(queue, options)
    this.#index = index
    this.#all = all
    this.#names = names
  }

  /** All queues have one name in Redis, and each its own here. */
  override getName(): string {
    return `${super.getName()}${this.#index === 0 ? '' : `-${this.#index}`}`
  }

  /** An operator pauses the work of all workspaces, or of none. */
  override async pause(): Promise<void> {
    await Promise.all(this.#all.map((queue) => queue.pause()))
  }

  override async resume(): Promise<void> {
    await Promise.all(this.#all.map((queue) => queue.resume()))
  }

  override getJobStatuses(): JobStatus[] {
    return ['active', 'waiting', 'prioritized', 'delayed', 'failed']
  }

  /** Bull Board reads as many jobs as a query asks for, and Redis serves nobody else meanwhile. */
  override async getJobs(statuses: JobStatus[], start = 0, end = start): Promise<Job[]> {
    const jobs = await super.getJobs(statuses, start, Math.min(end, start + maxJobs - 1))
    await this.#names?.read(jobs)
    return jobs
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const job = await super.getJob(id)
    if (job) await this.#names?.read([job])
    return job
  }
}

function describeBoard({ allowsWrites, consoleUrl }: Options): UIConfig {
  return {
    boardTitle: 'Automation rules',
    environment: allowsWrites
      ? { label: 'Writes allowed', color: '#b45309', textColor: '#ffffff' }
      : { label: 'Read-only', color: '#475569', textColor: '#ffffff' },
    hideDocsLink: true,
    miscLinks: consoleUrl ? [{ text: 'Console', url: consoleUrl }] : [],
    theme: { light: fonts, dark: fonts },
  }
}

/** The fonts of the user's system. */
const fonts = {
  'font-sans': 'system-ui, sans-serif',
  'font-mono': 'ui-monospace, monospace',
}
