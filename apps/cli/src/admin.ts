import { createAdmin } from './create-admin.js'
import { runProgram } from './program.js'

await runProgram(createAdmin())
