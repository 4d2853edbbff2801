import { addMetricsPort } from '@automation/process/server'
import { openMetrics, registerQueue } from '@automation/process/telemetry'
import type { QueueReader } from '@automation/queue'
import { countJobs, jobStates } from '@automation/queue'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.js'

/** The metrics of the board: its requests, and the queue. */
export function addMetrics(app: FastifyInstance, config: Config, queueReader: QueueReader): void {
  const metrics = openMetrics()
  registerQueue(metrics, async () => {
    const queues = await queueReader.findQueues()
    return queues === undefined ? {} : countJobs(queues, jobStates)
  })
  addMetricsPort(app, metrics, config)
}
