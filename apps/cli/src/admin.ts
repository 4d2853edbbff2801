import { createAdmin } from './create-admin.js'
import { startProgram } from './start-program.js'

await startProgram(createAdmin())
