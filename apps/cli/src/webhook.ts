import { createWebhook } from './create-webhook.js'
import { runProgram } from './program.js'

await runProgram(createWebhook())
