import { createWebhook } from './create-webhook.js'
import { startProgram } from './start-program.js'

await startProgram(createWebhook())
