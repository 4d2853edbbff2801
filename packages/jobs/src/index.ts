export {
  ExecutionResult,
  executionResultOf,
  type Run,
  RunStatus,
  TriggerResult,
  triggerResultOf,
} from './answer.js'
export { JobData, JobName, jobOptions, queueName, stallOptions } from './queue.js'
export { type Reply, replyChannel } from './reply.js'
