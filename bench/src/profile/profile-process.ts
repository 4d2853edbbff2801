import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { basename, resolve } from 'node:path'

// Loaded into API and worker by `--import`, since Node 20 takes no `--cpu-prof` from NODE_OPTIONS. Within a process the
// inspector responds synchronously, so the profile is complete when `exit` returns.
const directory = process.env.PROFILE_DIR ?? '.'
const app = basename(resolve(process.argv[1] ?? 'process', '../../..'))

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.setSamplingInterval', { interval: 500 })
session.post('Profiler.start')

process.on('exit', () => {
  session.post('Profiler.stop', (error, { profile }) => {
    if (error) return
    mkdirSync(directory, { recursive: true })
    writeFileSync(`${directory}/${app}-${process.pid}.cpuprofile`, JSON.stringify(profile))
  })
})
