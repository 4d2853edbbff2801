import { writeFileSync } from 'node:fs'
import { lowerPriority } from '@automation/process/lower-priority'
import type { ChildMessage, EvaluationQuestion } from './evaluation-process.js'
import { evaluationTasks } from './evaluation-tasks.js'

// The child process of EvaluationProcess. It has neither database nor settings: all that it needs comes with the question, and nothing is kept from one
// question to the next. It ends with its parent, however that ends: it waits for nothing but the channel between them.

// A signal for the whole group is the parent's to handle: it still responds to those who wait.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.on('message', ({ name, input }: EvaluationQuestion) => send(answer(name, input)))
lowerPriority()
offerToKernel()
send('ready')

function answer(name: EvaluationQuestion['name'], input: unknown): ChildMessage {
  try {
    return { result: (evaluationTasks[name] as (input: unknown) => unknown)(input) }
  } catch (error) {
    return { fault: error as Error }
  }
}

function send(message: ChildMessage): void {
  // A parent that has ended gets no reply.
  process.send?.(message, undefined, undefined, () => {})
}

/** If the memory of a container is used up, Linux ends this process and not the API. */
function offerToKernel(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Elsewhere nobody asks.
  }
}
